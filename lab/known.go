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

// Known stores results about contenders, so that later runs do not send the same requests to the same
// program. A key is a hash of the program and of the requests. Load returns false if it cannot read an
// entry.
type Known interface {
	Load(key string) ([]byte, bool)
	Save(key string, value []byte)
}

// examResult is the result of a contender's exams, tests with edge cases.
type examResult struct {
	Semantics *tare.Semantics `json:"semantics,omitempty"` // nil if the contender is status-only
	Adoption  tare.Adoption   `json:"adoption"`
}

// knownKey returns the key of a result about contender id on inputs. topic names the kind of result.
// The key covers everything that the result depends on, even the reference and this program. It is
// "" for commands, whose results are not stored, because a command can run anything.
func (r *run) knownKey(id, topic string, inputs ...wire.Workload) string {
	p := r.programs[id].Contender
	isBuilt := p.SHA256 != "" && (p.Launch == "" || p.Launch == tare.LaunchProgram)
	if r.opts.Known == nil || !isBuilt {
		return ""
	}
	comparer := programDigest()
	if comparer == "" {
		return ""
	}
	inputs = slices.Clone(inputs)
	for i := range inputs {
		inputs[i] = r.withSet(id, inputs[i])
		inputs[i].Input = "" // the path differs between runs; SHA256 covers the content
	}
	h := sha256.New()
	reference := ""
	if k, ok := r.kind.(Examiner); ok {
		reference = k.Reference()
	}
	err := json.NewEncoder(h).Encode([]any{"tare/known/v1", topic, r.kindName, reference, comparer, r.programs[r.study.Baseline].Contender.SHA256,
		p.SHA256, r.programs[id].Variant, p.Set, r.roleOf(id), r.contenderEnv(), inputs})
	if err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (r *run) loadKnown(key string, value any) bool {
	if key == "" {
		return false
	}
	src, ok := r.opts.Known.Load(key)
	return ok && json.Unmarshal(src, value) == nil
}

func (r *run) saveKnown(key string, value any) {
	if key == "" {
		return
	}
	if src, err := json.Marshal(value); err == nil {
		r.opts.Known.Save(key, src)
	}
}

// programDigest returns the digest and size of this program's executable, or "" if it cannot be
// read.
var programDigest = sync.OnceValue(func() string {
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
