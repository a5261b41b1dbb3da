#ifndef OBJECTS_H
#define OBJECTS_H

typedef struct { float x, y, z; } Vec3;

typedef struct {
	int id;
	char name[32];
	Vec3 position, velocity;
	float health;
	unsigned char team;
	_Bool visible;
} Object;

/* scene is an array of n objects, NULL where there is no memory for it. */
Object *scene(int n);

/* step moves n objects by a frame. */
void step(Object *objects, int n);

#endif
