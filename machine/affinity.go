package machine

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNoAffinity is returned where processes cannot be tied to processors.
var ErrNoAffinity = errors.New("this system cannot tie a process to processors")

// Pinned calls start so that a process started by it may use only cpus. The
// calling thread is given back its own processors afterwards.
func Pinned(cpus []int, start func() error) error { return pinned(cpus, start) }

// list writes processors as ranges: 0-3,8.
func list(cpus []int) string {
	var b strings.Builder
	for i := 0; i < len(cpus); i++ {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, cpus[i])
		if j > i {
			fmt.Fprintf(&b, "-%d", cpus[j])
		}
		i = j
	}
	return b.String()
}
