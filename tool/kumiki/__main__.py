from kumiki.entry import main

main()
