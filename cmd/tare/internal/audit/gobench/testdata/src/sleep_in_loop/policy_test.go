package sleep_in_loop

import (
	"errors"
	"testing"
	"time"
)

var errAgain = errors.New("again")

// flaky fails every second time.
type flaky struct{ n int }

func (f *flaky) call() error {
	f.n++
	if f.n%2 == 1 {
		return errAgain
	}
	return nil
}

func succeed() error { return nil }

func BenchmarkRepeat(b *testing.B) {
	var f flaky
	for b.Loop() {
		if err := repeat(usual, f.call); err != nil { // want `repeat waits for the clock when its call fails, because wait of usual is nil`
			b.Fatal(err)
		}
	}
}

func BenchmarkRepeatOwn(b *testing.B) {
	p := policy{attempts: 3, pause: time.Microsecond}
	var f flaky
	for b.Loop() {
		if err := repeat(p, f.call); err != nil { // want `repeat waits for the clock`
			b.Fatal(err)
		}
	}
}

func BenchmarkRepeatNoPause(b *testing.B) {
	p := usual
	p.wait = func(time.Duration) {}
	var f flaky
	for b.Loop() {
		if err := repeat(p, f.call); err != nil {
			b.Fatal(err)
		}
	}
}

// The first attempt succeeds.
func BenchmarkRepeatOnce(b *testing.B) {
	for b.Loop() {
		if err := repeat(usual, succeed); err != nil {
			b.Fatal(err)
		}
	}
}
