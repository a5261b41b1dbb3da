package sleep_in_loop

import "time"

// policy says how to repeat a call.
type policy struct {
	attempts int
	pause    time.Duration
	wait     func(time.Duration) // nil: time.Sleep
}

var usual = policy{attempts: 5, pause: time.Millisecond}

func repeat(p policy, call func() error) error {
	wait := p.wait
	if wait == nil {
		wait = time.Sleep
	}
	for n := 1; ; n++ {
		err := call()
		if err == nil || n == p.attempts {
			return err
		}
		wait(p.pause)
	}
}
