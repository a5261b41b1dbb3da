#ifndef PERSON_H
#define PERSON_H

#include <stdbool.h>

typedef struct {
	int id;
	char name[50];
	int age;
	double height; /* metres */
	bool active;
} Person;

/* find_person is NULL where there is no such person. */
const Person *find_person(int id);

#endif
