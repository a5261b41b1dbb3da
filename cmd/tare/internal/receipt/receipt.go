// Package receipt reads and writes receipts. A receipt is a file with the findings of a
// comparison of two revisions (tare bench) and with all that is needed to measure them again.
// Its seal, a message authentication code (MAC) with a key that is in tare's data directory,
// shows whether the file was changed since.
package receipt

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/gitrev"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/format"
)

// Schema names the document format. The seal covers every field, so that a new field
// requires a new schema.
const Schema = "tare.receipt/1"

// MaxBytes is the size limit of a receipt file.
const MaxBytes = 16 << 20

// Receipt is the document.
type Receipt struct {
	Schema  string            `json:"schema"`
	Tare    string            `json:"tare"` // version that measured
	Made    time.Time         `json:"made"` // UTC, when measuring began
	Study   string            `json:"study"`
	Seed    string            `json:"seed"`
	Stopped string            `json:"stopped"` // as in the result
	Command []string          `json:"command"` // arguments of tare; values of --env as the result has them
	Dir     string            `json:"work_dir"`
	Files   map[string]string `json:"files_sha256,omitempty"` // hashes of files that the command names, by path
	Sides   []Side            `json:"sides"`                  // base and head
	Machine Machine           `json:"machine"`
	Rows    []Row             `json:"rows"`
	Counts  []tare.Work       `json:"counts,omitempty"` // instructions of benchmarks, if they were counted
	Seal    string            `json:"seal"`             // MAC with the key of the data directory
}

// Side identifies the sources of one side of the comparison.
type Side struct {
	ID      string `json:"id"` // base or head
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"` // complete hash; "" for the worktree
	Tree    string `json:"tree"`             // git's hash of all files, also for the worktree
	Go      string `json:"go,omitempty"`
}

// Machine describes the machine that measured.
type Machine struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPU  string `json:"cpu,omitempty"`
}

// Row is the comparison of the head with the base by one metric of one benchmark.
type Row struct {
	Benchmark string  `json:"benchmark"`
	Metric    string  `json:"metric"`
	Claim     Claim   `json:"claim"`
	Ratio     float64 `json:"ratio"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Level     float64 `json:"level"`
	Rounds    int     `json:"rounds"`
	Noise     float64 `json:"noise"` // difference that the base shows from itself, as a logarithm
}

// Claim is the direction in which the head differs significantly from the base.
type Claim string

// Values of Claim. Undecided means that no significant difference was found.
const (
	Less      Claim = "less"
	More      Claim = "more"
	Undecided Claim = "undecided"
)

// Trees finds the commits and trees, git's hashes of all files, of both sides. An empty revision means the
// worktree, without the files outputs, which the command itself writes: the receipt and other results.
func Trees(ctx context.Context, dir, base, head string, outputs ...string) (sides []Side, err error) {
	repo, err := gitrev.Find(ctx, dir)
	if err != nil {
		return nil, cmdenv.UsageOf(fmt.Errorf("--receipt: %w", err), "a receipt names what was measured by git's hashes")
	}
	worktree := "" // tree of the worktree, hashed once
	for _, side := range []Side{{ID: benchstudy.Base, Version: base}, {ID: benchstudy.Head, Version: head}} {
		if side.Version != "" {
			rev, err := repo.Resolve(ctx, side.Version)
			if err != nil {
				return nil, cmdenv.UsageOf(err, "")
			}
			side.Commit, side.Tree = rev.Commit, rev.Tree
		} else {
			if worktree == "" {
				if worktree, err = repo.HashWorktree(ctx, outputs...); err != nil {
					return nil, err
				}
			}
			side.Tree = worktree
		}
		sides = append(sides, side)
	}
	return sides, nil
}

// New returns a receipt of a result, without a seal. sides come from [Trees].
func New(r *tare.Result, sides []Side) Receipt {
	c := Receipt{
		Schema: Schema, Tare: r.Tare, Made: r.Started.UTC(), Study: r.Study, Seed: r.Seed, Stopped: r.Stopped,
		Command: r.Asked.Command, Dir: r.Asked.WorkDir, Files: r.Asked.Files, Sides: sides,
		Machine: Machine{r.Machine.OS, r.Machine.Arch, r.Machine.CPU}, Rows: Rows(r), Counts: r.Work,
	}
	for i := range c.Sides {
		if built, ok := r.Contender(c.Sides[i].ID); ok {
			c.Sides[i].Version, c.Sides[i].Go = built.Version, built.Go
		}
	}
	return c
}

// Rows returns the comparisons of the head with the base: in time, or in instructions if a benchmark was
// not timed.
func Rows(r *tare.Result) []Row {
	rows := []Row{}
	isTimed := map[string]bool{} // by benchmark
	for _, c := range r.Comparisons {
		isTimed[c.Workload] = isTimed[c.Workload] || c.Metric == benchstudy.Metrics()[0]
	}
	for _, c := range r.Comparisons {
		isOfSides := c.Contender == benchstudy.Head && c.Against == benchstudy.Base
		isChosen := c.Metric == benchstudy.Metrics()[0] || c.Metric == tare.MetricInstructions && !isTimed[c.Workload]
		if !isOfSides || !isChosen {
			continue
		}
		row := Row{
			Benchmark: c.Workload, Metric: c.Metric, Claim: Undecided, Ratio: c.Ratio, Low: c.Low, High: c.High, Level: c.Level,
			Rounds: c.Rounds, Noise: tare.NoiseFloor(r.Comparisons, c.Workload, c.Metric),
		}
		isSignificant := c.Bounded() && c.Differs(row.Noise) == tare.Significant
		isVoid := len(tare.VoidsMetric(r.Findings, c.Contender, c.Workload, c.Metric)) > 0
		if isSignificant && !isVoid {
			row.Claim = More
			if c.High < 1 {
				row.Claim = Less
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// sealedText returns the text that the seal covers: the document without the seal.
func (c Receipt) sealedText() ([]byte, error) {
	c.Seal = ""
	return json.Marshal(c)
}

// Write seals a receipt with the key of the data directory d and writes it. Bytes that are not UTF-8 are replaced
// first, so that the writer and a reader of the file have the same text.
func (c Receipt) Write(w io.Writer, d cmdenv.Dirs) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	var read Receipt // what a reader gets
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	if text, err = read.sealedText(); err != nil {
		return err
	}
	if read.Seal, err = session.MAC(d, Schema, text); err != nil {
		return err
	}
	return cmdenv.PrintJSON(w, read)
}

// Read reads a receipt. It returns a usage error for any file that was not sealed with the key of the data
// directory d.
func Read(path string, d cmdenv.Dirs) (Receipt, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return Receipt{}, cmdenv.Usage("no receipt "+path, "tare bench --receipt FILE writes one", "tare bench --help")
	}
	if err != nil {
		return Receipt{}, cmdenv.Usage(fmt.Sprintf("cannot read %s: %v", path, cmdenv.Cause(err)), "")
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return Receipt{}, cmdenv.Usage(fmt.Sprintf("cannot read %s: %v", path, cmdenv.Cause(err)), "")
	}
	c, err := parseReceipt(src)
	if err != nil {
		return c, cmdenv.Usage(fmt.Sprintf("%s is not a receipt: %s", path, format.Line(err.Error(), format.LineLimit)), "name what tare bench --receipt wrote")
	}
	text, err := c.sealedText()
	if err != nil {
		return c, err
	}
	sealed, err := session.HasMAC(d, Schema, text, c.Seal)
	if err == nil {
		// A file may have a key twice, or once more in capitals, with another value. Other programs may read that one.
		var written bytes.Buffer
		err = cmdenv.PrintJSON(&written, c)
		sealed = sealed && bytes.Equal(written.Bytes(), src)
	}
	if err == nil && !sealed {
		err = cmdenv.Usage(path+" was changed, or made by another data directory; nothing was run", "a receipt holds where it was made: TARE_DATA names that directory")
	}
	return c, err
}

// parseReceipt parses a receipt. Unknown fields are an error, because the seal would not cover them.
func parseReceipt(src []byte) (c Receipt, err error) {
	if len(src) > MaxBytes {
		return c, fmt.Errorf("larger than %d MiB", MaxBytes>>20)
	}
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return c, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return c, errors.New("there is more after the document")
	}
	if c.Schema != Schema || len(c.Sides) != 2 {
		return c, fmt.Errorf("its schema is %q, not %s", format.Line(c.Schema, 40), Schema)
	}
	return c, nil
}
