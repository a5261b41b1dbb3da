#ifndef DEVICES_H
#define DEVICES_H

struct device {
	char serial[16];
	const char *label; /* may be NULL */
	double *gains;
	int gains_count;
};

/* list_devices makes a list of *n devices, which the caller gives back to
   free_devices. It returns 0, or a number of what went wrong. */
int list_devices(struct device **list, int *n);
void free_devices(struct device *list, int n);

/* lists_alive is how many lists have not been given back. */
int lists_alive(void);

#endif
