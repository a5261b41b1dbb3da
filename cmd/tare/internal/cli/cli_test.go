package cli

import (
	"os"
	"runtime"
	"testing"
)

func TestInterruptsReachUs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot interrupt itself there")
	}
	signals, restore := notifyInterrupts()
	defer restore()
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if got := <-signals; got != os.Interrupt {
		t.Errorf("got %v", got)
	}
}
