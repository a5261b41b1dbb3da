#ifndef RING_H
#define RING_H

#include <stdint.h>

typedef struct {
	int64_t sequence;
	double value;
	char unit[8];
} Sample;

typedef struct ring ring;

/* ring_start begins a thread that writes total samples into a ring of slots. It
   is NULL where that cannot be done. */
ring *ring_start(int slots, int64_t total);

/* ring_take waits for samples, and is how many lie at *from, one after the
   other. The thread leaves them alone until ring_give. 0: there will be none. */
int ring_take(ring *r, const Sample **from);

/* ring_give hands n samples back, to be overwritten. */
void ring_give(ring *r, int n);

/* ring_stop waits for the thread's end and frees the ring. All samples must have
   been taken and given back. */
void ring_stop(ring *r);

#endif
