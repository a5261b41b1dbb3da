#ifndef GAME_H
#define GAME_H

#include <stdbool.h>

typedef struct { double x, y, z; } Point3D;

enum object_kind { OBJECT_NPC, OBJECT_PLAYER, OBJECT_BOSS };

typedef struct {
	int id;
	char name[64];
	Point3D position, velocity;
	float health;
	unsigned short level;
	enum object_kind kind;
	bool visible;
	char reserved[7];
} GameObject;

/* world is an array of *n objects that lives as long as the program. */
GameObject *world(int *n);

/* tick moves all of them by their velocity. */
void tick(void);

#endif
