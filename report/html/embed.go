package html

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/report"
)

// mostHeld is how long the document in a page may be, in characters. A longer
// one is shortened, and the page says by what.
const mostHeld = 1_900_000

// keptDigits is to how many digits the figures of single rounds are rounded in
// a document that is too long. No figure is printed with half as many.
const keptDigits = 9

// holding is the result document as a page holds it.
type holding struct {
	Text    string // gzip in base64
	Without string // what was shortened, in a sentence; empty: nothing
	Bytes   int    // of the document
}

// held packs r, shortened only as far as its length asks for it.
func held(r *tare.Result) (holding, error) {
	h, err := pack(r, "")
	if err != nil || len(h.Text) <= mostHeld {
		return h, err
	}
	short := rounded(r)
	without := fmt.Sprintf("Figures of single rounds are rounded to %d digits in it, to keep the page short; none that is printed changes.", keptDigits)
	if h, err = pack(short, without); err != nil || len(h.Text) <= mostHeld {
		return h, err
	}
	for i := range short.Trials {
		short.Trials[i].Histograms, short.Trials[i].Answers = nil, nil
	}
	return pack(short, without+" The histograms and answers of single trials are left out: they stand in the document that the run kept.")
}

func pack(r *tare.Result, without string) (holding, error) {
	var doc, compact, packed bytes.Buffer
	if err := report.JSON(&doc, r); err != nil {
		return holding{}, err
	}
	if err := json.Compact(&compact, doc.Bytes()); err != nil {
		return holding{}, fmt.Errorf("compact the document: %w", err)
	}
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return holding{}, fmt.Errorf("compress the document: %w", err)
	}
	if _, err := z.Write(compact.Bytes()); err != nil {
		return holding{}, fmt.Errorf("compress the document: %w", err)
	}
	if err := z.Close(); err != nil {
		return holding{}, fmt.Errorf("compress the document: %w", err)
	}
	return holding{base64.StdEncoding.EncodeToString(packed.Bytes()), without, compact.Len()}, nil
}

// rounded is r with fewer digits in what single rounds measured.
func rounded(r *tare.Result) *tare.Result {
	out := *r
	out.Rounds = slices.Clone(r.Rounds)
	for i := range out.Rounds {
		out.Rounds[i].Effects, out.Rounds[i].Sums = fewer(r.Rounds[i].Effects), fewer(r.Rounds[i].Sums)
	}
	out.Scaling = slices.Clone(r.Scaling)
	for i := range out.Scaling {
		out.Scaling[i].PerRound = fewer(r.Scaling[i].PerRound)
	}
	out.BreakEven = slices.Clone(r.BreakEven)
	for i := range out.BreakEven {
		out.BreakEven[i].Points = slices.Clone(r.BreakEven[i].Points)
		for j := range out.BreakEven[i].Points {
			out.BreakEven[i].Points[j].PerRound = fewer(r.BreakEven[i].Points[j].PerRound)
		}
	}
	out.Trials = slices.Clone(r.Trials)
	for i := range out.Trials {
		out.Trials[i].Samples = maps.Clone(r.Trials[i].Samples)
		for w, sample := range out.Trials[i].Samples {
			out.Trials[i].Samples[w] = tare.Sample{}
			for key, x := range sample {
				out.Trials[i].Samples[w][key] = digits(x)
			}
		}
	}
	return &out
}

func fewer(values []float64) []float64 {
	out := slices.Clone(values)
	for i, x := range out {
		out[i] = digits(x)
	}
	return out
}

// digits is x to as many digits as a shortened document keeps; whole numbers
// stay as they are.
func digits(x float64) float64 {
	if x == math.Trunc(x) {
		return x
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', keptDigits, 64), 64)
	if err != nil {
		return x
	}
	return short
}
