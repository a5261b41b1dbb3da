package history

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"

	"github.com/tarebench/tare"
)

// Digest is a small extract of a stored result, or the reason why the result cannot be read.
type Digest struct {
	Result *tare.Result
	Error  string // one line; "" if the result could be read
}

// DigestOf returns the parts of a result that lists and trends need, without texts.
func DigestOf(r *tare.Result) *tare.Result {
	m := r.Machine
	d := &tare.Result{
		Study: r.Study,
		Run: tare.Run{
			Started: r.Started, Seconds: r.Seconds, Seed: r.Seed, Stopped: r.Stopped,
			Machine: tare.Machine{OS: m.OS, Arch: m.Arch, Kernel: m.Kernel, CPU: m.CPU, Cores: m.Cores, Memory: m.Memory, Go: m.Go},
		},
		Measured: tare.Measured{RoundsDone: r.RoundsDone, Counter: r.Counter}, Record: tare.Record{Tare: r.Tare}, Design: tare.Design{Metrics: r.Metrics},
	}
	for _, c := range r.Contenders {
		d.Contenders = append(d.Contenders, tare.Contender{ID: c.ID, Role: c.Role, Name: c.Name, Kind: c.Kind, Version: c.Version, Build: tare.Build{Go: c.Go, Modules: c.Modules, SHA256: c.SHA256}})
	}
	for _, w := range r.Workloads {
		d.Workloads = append(d.Workloads, tare.Workload{ID: w.ID, SHA256: w.SHA256})
	}
	d.NotWeighed = r.NotWeighed
	for _, v := range r.Verdicts {
		v.Sentence = ""
		d.Verdicts = append(d.Verdicts, v)
	}
	for _, f := range r.Findings {
		if f.Severity == tare.Void {
			f.Message, f.Advice = "", ""
			d.Findings = append(d.Findings, f)
		}
	}
	return d
}

// ReadFirst reads the first result in a file, and returns it with the hash of its document, see
// Compact.
func ReadFirst(path string) (*tare.Result, string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, "", err
	}
	if info.Size() > MaxBytes {
		_, err := ReadFile(path) // only for its error about the size
		return nil, "", err
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	results, err := Parse(path, src)
	if err != nil {
		return nil, "", err
	}
	_, sum, err := Compact(src)
	return results[0], sum, err
}

// Compact returns a JSON document without insignificant space, and the SHA-256 hash of the returned
// text in hex. If src is a list, it returns the first document. The text is a new slice.
func Compact(src []byte) (text []byte, sum string, err error) {
	doc := bytes.TrimSpace(bytes.TrimPrefix(src, []byte("\ufeff")))
	for bytes.HasPrefix(doc, []byte("[")) {
		if doc, err = firstElement(doc); err != nil {
			return nil, "", fmt.Errorf("not JSON: %w", err)
		}
	}
	var b bytes.Buffer
	if err := json.Compact(&b, doc); err != nil {
		return nil, "", fmt.Errorf("not JSON: %w", err)
	}
	h := sha256.Sum256(b.Bytes())
	return b.Bytes(), hex.EncodeToString(h[:]), nil
}

func firstElement(list []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(list))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	var first json.RawMessage
	err := dec.Decode(&first)
	return first, err
}
