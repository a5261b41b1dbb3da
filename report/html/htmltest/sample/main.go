// Command sample writes small versions of real results for the browser test, as DIR/NAME.json.gz. It rounds values
// of single rounds and removes paths of the machine.
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

// sampleDigits is the number of digits of values of single rounds.
const sampleDigits = 5

// maxSample limits the bytes of a sample.
const maxSample = 300_000

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
		if err := writeSample(filepath.Join(os.Args[1], name+".json.gz"), file); err != nil {
			fmt.Fprintln(os.Stderr, "sample:", err)
			os.Exit(1)
		}
	}
}

func writeSample(sample, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read a result: %w", err)
	}
	var r tare.Result
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("%s is no result: %w", file, err)
	}
	shrinkResult(&r)
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
	if packed.Len() > maxSample {
		return fmt.Errorf("%s is %d bytes long; take a shorter run, a sample has at most %d", sample, packed.Len(), maxSample)
	}
	if err := os.WriteFile(sample, packed.Bytes(), 0o644); err != nil { //nolint:gosec // test data, for everybody to read
		return fmt.Errorf("keep a sample: %w", err)
	}
	fmt.Fprintf(os.Stderr, "%s: %d bytes\n", sample, packed.Len())
	return nil
}

// shrinkResult rounds the values of single rounds, and removes paths of the machine.
func shrinkResult(r *tare.Result) {
	r.Asked.Dir = ""
	for _, c := range r.Contenders {
		for i, m := range c.Modules {
			if filepath.IsAbs(m.Replace) {
				c.Modules[i].Replace = "./" + filepath.Base(m.Path)
			}
		}
	}
	for i := range r.Rounds {
		roundValues(r.Rounds[i].Effects)
		roundValues(r.Rounds[i].Sums)
	}
	for i := range r.Scaling {
		roundValues(r.Scaling[i].PerRound)
	}
	for i := range r.BreakEven {
		for j := range r.BreakEven[i].Points {
			roundValues(r.BreakEven[i].Points[j].PerRound)
		}
	}
	for _, t := range r.Trials {
		for _, sample := range t.Samples {
			for key, x := range sample {
				sample[key] = roundValue(x)
			}
		}
	}
}

func roundValues(values []float64) {
	for i, x := range values {
		values[i] = roundValue(x)
	}
}

func roundValue(x float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', sampleDigits, 64), 64)
	if err != nil {
		return x
	}
	return short
}
