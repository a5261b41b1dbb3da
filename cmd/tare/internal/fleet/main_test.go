package fleet

import (
	commandline "flag"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// Most tests wait for each other's machines and not for a processor: more of them run
// at a time than there are processors.
func TestMain(m *testing.M) {
	commandline.Parse()
	if parallel := commandline.Lookup("test.parallel"); parallel.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		_ = parallel.Value.Set("16")
	}
	os.Exit(m.Run())
}

// until waits until done, for two minutes at most.
func until(t *testing.T, done func() bool) {
	t.Helper()
	for range 12000 {
		if done() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("it did not happen within two minutes")
}
