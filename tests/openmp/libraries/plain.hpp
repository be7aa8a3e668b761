// A library without OpenMP, which makes objects.
#pragma once

#include <string>

namespace plain {

class Item;
Item* make(int number);
int number_of(const Item& item);
const std::string& name_of(const Item& item);
void release(Item* item);
/// How many items there are.
int count();

} // namespace plain
