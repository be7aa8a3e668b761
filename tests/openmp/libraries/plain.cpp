#include "plain.hpp"

#include <atomic>
#include <cstdio>
#include <vector>

namespace plain {

class Item {
public:
    int number;
    std::string name;
};

namespace {

std::atomic<int> items = 0;
const std::vector<std::string> names{"one of the items with the first name", "one of the items with the second name"};

/// Tells how often it was made, and destroyed.
struct Teller {
    Teller() { std::printf("the library begins\n"); }
    ~Teller() { std::printf("the library ends with %d items\n", items.load()); }
} teller;

} // namespace

Item* make(int number) {
    ++items;
    return new Item{number, names[static_cast<std::size_t>(number) % names.size()]};
}
int number_of(const Item& item) { return item.number; }
const std::string& name_of(const Item& item) { return item.name; }
void release(Item* item) {
    --items;
    delete item;
}
int count() { return items; }

} // namespace plain
