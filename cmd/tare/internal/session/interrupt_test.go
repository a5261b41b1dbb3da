package session

import (
	"context"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// Ctrl-C waits for the round to end, however long it takes; SIGTERM for a few seconds.
func TestSignalsEndRounds(t *testing.T) {
	for _, c := range []struct {
		what      string
		measuring bool
		signals   []os.Signal
		ends      time.Duration // time.Hour: not by itself
	}{
		{"Ctrl-C", true, []os.Signal{os.Interrupt}, time.Hour},
		{"Ctrl-C twice", true, []os.Signal{os.Interrupt, os.Interrupt}, 0},
		{"Ctrl-C before the first round", false, []os.Signal{os.Interrupt}, 0},
		{"SIGTERM", true, []os.Signal{syscall.SIGTERM}, finishTime},
		{"SIGTERM twice", true, []os.Signal{syscall.SIGTERM, syscall.SIGTERM}, 0},
		{"SIGTERM before the first round", false, []os.Signal{syscall.SIGTERM}, 0},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				signals := make(chan os.Signal)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				h := haltOn(signals, func() {}, cancel, func(string) {})
				defer h.Close()
				h.SetMeasuring(c.measuring)
				from := time.Now()
				for _, s := range c.signals {
					signals <- s
					synctest.Wait()
				}
				if c.measuring {
					<-h.Stop
				}
				<-ctx.Done()
				took := time.Since(from)
				if took != c.ends {
					t.Errorf("it ended after %v", took)
				}
			})
		})
	}
}
