#include "objects.h"

#include <stdio.h>
#include <stdlib.h>

Object *scene(int n) {
	Object *o = calloc(n, sizeof *o);
	for (int i = 0; o && i < n; i++) {
		o[i] = (Object){.id = i, .position = {i, 0, 0}, .velocity = {0, 1, 0.5f}, .health = 100, .team = i % 4, .visible = i % 2};
		snprintf(o[i].name, sizeof o[i].name, "object %d", i);
	}
	return o;
}

void step(Object *objects, int n) {
	for (int i = 0; i < n; i++) {
		objects[i].position.x += objects[i].velocity.x;
		objects[i].position.y += objects[i].velocity.y;
		objects[i].position.z += objects[i].velocity.z;
	}
}
