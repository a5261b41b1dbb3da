package lab

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/atomicfile"
)

// Known stores the answers of contenders, so that later runs do not ask the same program the same
// question. Keys are made of the program and of the question. An unreadable entry counts as not
// known.
type Known interface {
	Load(key string) ([]byte, bool)
	Save(key string, what []byte)
}

// examResult is the result of one contender in the kind's exams.
type examResult struct {
	Semantics *tare.Semantics `json:"semantics,omitempty"` // nil means it was not asked
	Adoption  tare.Adoption   `json:"adoption"`
}

// knownKey returns the key of contender id's answers to the workloads in ask. It contains
// everything an answer and its comparison depend on: the program and how it is configured and
// started, the baseline, which may be the reference, the inputs, and this program, which compares.
// It returns "" if tare did not build the program: a command can run anything.
func (r *run) knownKey(id, what string, ask ...wire.Workload) string {
	p := r.programs[id].Contender
	if r.o.Known == nil || p.SHA256 == "" || p.Launch != "" && p.Launch != tare.LaunchProgram {
		return ""
	}
	compares := self()
	if compares == "" {
		return ""
	}
	ask = slices.Clone(ask)
	for i := range ask {
		ask[i] = r.withSet(id, ask[i])
		ask[i].Input = "" // a path; its bytes are in the sum
	}
	h := sha256.New()
	reference := ""
	if k, ok := r.kind.(Examiner); ok {
		reference = k.Reference()
	}
	err := json.NewEncoder(h).Encode([]any{"tare/known/v1", what, r.name, reference, compares, r.programs[r.study.Baseline].Contender.SHA256,
		p.SHA256, r.programs[id].Variant, p.Set, r.roleOf(id), r.contenderEnv(), ask})
	if err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// loadKnown reads the value stored under key into value.
func (r *run) loadKnown(key string, what any) bool {
	if key == "" {
		return false
	}
	src, ok := r.o.Known.Load(key)
	return ok && json.Unmarshal(src, what) == nil
}

// saveKnown stores value under key.
func (r *run) saveKnown(key string, what any) {
	if key == "" {
		return
	}
	if src, err := json.Marshal(what); err == nil {
		r.o.Known.Save(key, src)
	}
}

// self is the sum of this program's executable; empty if it cannot be read.
var self = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	sum, size, err := atomicfile.Digest(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(sum, " ", size)
})
