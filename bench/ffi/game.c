#include "game.h"

SimplePerson person = {42, "Alice Johnson", 12345.67, 1};

GameObject object = {1001, "Player One", {100.5, 200.25, 50.75}, {1.5, -0.5, 0}, 87.5f, 15};
