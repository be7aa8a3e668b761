from kumiki.command import main

main()
