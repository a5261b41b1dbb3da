#include "game.h"

static GameObject objects[] = {
	{.id = 1, .name = "hero", .position = {1, 2, 3}, .velocity = {1, 0, 0}, .health = 87.5f, .level = 12, .kind = OBJECT_PLAYER, .visible = true},
	{.id = 2, .name = "dragon", .position = {10, 20, 30}, .velocity = {0, -1, 0.5}, .health = 900, .level = 60, .kind = OBJECT_BOSS},
};

GameObject *world(int *n) {
	*n = sizeof objects / sizeof objects[0];
	return objects;
}

void tick(void) {
	for (unsigned i = 0; i < sizeof objects / sizeof objects[0]; i++) {
		objects[i].position.x += objects[i].velocity.x;
		objects[i].position.y += objects[i].velocity.y;
		objects[i].position.z += objects[i].velocity.z;
	}
}
