// Package receipt records what a comparison of two revisions found, so that the data
// directory that made it can tell whether it was changed, and measure it again.
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

// Schema names the document format. Its seal covers every field, so that a change makes
// a new schema.
const Schema = "tare.receipt/1"

// MaxBytes is the size limit of a receipt file.
const MaxBytes = 16 << 20

// Receipt records the findings of tare bench, and everything that a second measurement needs.
type Receipt struct {
	Schema  string            `json:"schema"`
	Tare    string            `json:"tare"` // version that measured
	Made    time.Time         `json:"made"` // UTC, when measuring began
	Study   string            `json:"study"`
	Seed    string            `json:"seed"`
	Stopped string            `json:"stopped"` // as in the result
	Command []string          `json:"command"` // arguments of tare; values of --env as the result keeps them
	Dir     string            `json:"work_dir"`
	Files   map[string]string `json:"files_sha256,omitempty"` // of files that the command names
	Sides   []Side            `json:"sides"`                  // base and head
	Machine Machine           `json:"machine"`
	Rows    []Row             `json:"rows"`
	Counts  []tare.Work       `json:"counts,omitempty"` // of instructions, where they were counted
	Seal    string            `json:"seal"`             // MAC with the key of the data directory
}

// Side identifies the files of a side.
type Side struct {
	ID      string `json:"id"` // base or head
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"` // in full; "" for the worktree
	Tree    string `json:"tree"`             // git's hash of all files, also of a worktree
	Go      string `json:"go,omitempty"`
}

// Machine describes the machine that measured.
type Machine struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPU  string `json:"cpu,omitempty"`
}

// Row is a comparison of the head with the base.
type Row struct {
	Benchmark string  `json:"benchmark"`
	Metric    string  `json:"metric"`
	Claim     Claim   `json:"claim"`
	Ratio     float64 `json:"ratio"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Level     float64 `json:"level"`
	Rounds    int     `json:"rounds"`
	Noise     float64 `json:"noise"` // noise floor, a share
}

// Claim is the direction of a significant difference of the head.
type Claim string

// Claims. Undecided claims no difference.
const (
	Less      Claim = "less"
	More      Claim = "more"
	Undecided Claim = "undecided"
)

// Trees finds the commits and trees of both sides. An empty revision is the worktree,
// without the files of outputs, which the command writes: the receipt and other results.
func Trees(ctx context.Context, dir, base, head string, outputs ...string) (sides []Side, err error) {
	repo, err := gitrev.Find(ctx, dir)
	if err != nil {
		return nil, cmdenv.UsageOf(fmt.Errorf("--receipt: %w", err), "a receipt names what was measured by git's hashes")
	}
	worktree := ""
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

// New makes a receipt of a result without a seal. sides are those of [Trees].
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

// Rows returns the comparisons of the head with the base, with what each claims.
func Rows(r *tare.Result) []Row {
	rows := []Row{}
	for _, c := range r.Comparisons {
		if c.Contender != benchstudy.Head || c.Against != benchstudy.Base || c.Metric != benchstudy.Metrics()[0] {
			continue
		}
		row := Row{c.Workload, c.Metric, Undecided, c.Ratio, c.Low, c.High, c.Level, c.Rounds, tare.NoiseFloor(r.Comparisons, c.Workload, c.Metric)}
		if c.Bounded() && c.Differs(row.Noise) == tare.Significant && len(tare.VoidsMetric(r.Findings, c.Contender, c.Workload, c.Metric)) == 0 {
			if row.Claim = More; c.High < 1 {
				row.Claim = Less
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// sealedText returns what the seal covers: all but the seal, as a reader of the document has it.
// JSON has no bytes that are not UTF-8.
func (c Receipt) sealedText() ([]byte, error) {
	c.Seal = ""
	written, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var read Receipt
	if err := json.Unmarshal(written, &read); err != nil {
		return nil, err
	}
	return json.Marshal(read)
}

// Write seals a receipt by the data directory and writes it.
func (c Receipt) Write(w io.Writer, d cmdenv.Dirs) error {
	text, err := c.sealedText()
	if err == nil {
		c.Seal, err = session.MAC(d, Schema, text)
	}
	if err != nil {
		return err
	}
	return cmdenv.PrintJSON(w, c)
}

// Read reads a receipt that the data directory has sealed. Any other file is a usage error.
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
	if err == nil && !sealed {
		err = cmdenv.Usage(path+" was changed, or made by another data directory; nothing was run", "a receipt holds where it was made: TARE_DATA names that directory")
	}
	return c, err
}

// parseReceipt reads a receipt. Fields that the seal would not cover are an error.
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
