// Command sample keeps results for the browser's test: real ones, made small.
// What single rounds measured is rounded to a few digits, and where files lay
// on the machine is left out; all else is as it was.
//
//	go run ./report/html/htmltest/sample DIR NAME=RESULT.json…
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
)

// keptDigits is how many digits of what single rounds measured are kept.
const keptDigits = 5

// largest is how long a sample may be, in bytes.
const largest = 300_000

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "sample: name a directory, and results as NAME=FILE")
		os.Exit(2)
	}
	for _, arg := range os.Args[2:] {
		name, file, ok := strings.Cut(arg, "=")
		if !ok {
			fmt.Fprintf(os.Stderr, "sample: %s: want NAME=FILE\n", arg)
			os.Exit(2)
		}
		if err := keep(filepath.Join(os.Args[1], name+".json.gz"), file); err != nil {
			fmt.Fprintln(os.Stderr, "sample:", err)
			os.Exit(1)
		}
	}
}

// keep writes the result in file as a sample.
func keep(sample, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read a result: %w", err)
	}
	var r tare.Result
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("%s is no result: %w", file, err)
	}
	small(&r)
	out, err := json.Marshal(&r)
	if err != nil {
		return fmt.Errorf("write %s: %w", sample, err)
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return fmt.Errorf("compress %s: %w", sample, err)
	}
	if _, err := z.Write(out); err != nil {
		return fmt.Errorf("compress %s: %w", sample, err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("compress %s: %w", sample, err)
	}
	if packed.Len() > largest {
		return fmt.Errorf("%s is %d bytes long; take a shorter run, a sample has at most %d", sample, packed.Len(), largest)
	}
	if err := os.WriteFile(sample, packed.Bytes(), 0o644); err != nil { //nolint:gosec // test data, for everybody to read
		return fmt.Errorf("keep a sample: %w", err)
	}
	fmt.Fprintf(os.Stderr, "%s: %d bytes\n", sample, packed.Len())
	return nil
}

// small rounds what single rounds measured.
func small(r *tare.Result) {
	r.Asked.Dir = ""
	for _, c := range r.Contenders {
		for i, m := range c.Modules {
			if filepath.IsAbs(m.Replace) {
				c.Modules[i].Replace = "./" + filepath.Base(m.Path)
			}
		}
	}
	for i := range r.Rounds {
		fewer(r.Rounds[i].Effects)
		fewer(r.Rounds[i].Sums)
	}
	for i := range r.Scaling {
		fewer(r.Scaling[i].PerRound)
	}
	for i := range r.BreakEven {
		for j := range r.BreakEven[i].Points {
			fewer(r.BreakEven[i].Points[j].PerRound)
		}
	}
	for _, t := range r.Trials {
		for _, sample := range t.Samples {
			for key, x := range sample {
				sample[key] = rounded(x)
			}
		}
	}
}

func fewer(values []float64) {
	for i, x := range values {
		values[i] = rounded(x)
	}
}

func rounded(x float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', keptDigits, 64), 64)
	if err != nil {
		return x
	}
	return short
}
