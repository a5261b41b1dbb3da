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

// A page contains its result document, for readers to save. maxEmbedded limits the characters of the packed
// document. A longer one is shortened, and the page describes how.
const maxEmbedded = 1_900_000

// shortDigits is the number of digits of shortened values of rounds. Printed numbers have less than half as many.
const shortDigits = 9

type embedded struct {
	Text    string // gzip in base64
	Without string // what was shortened, or ""
	Bytes   int    // size before packing
}

// embedResult packs r, and shortens it only as far as maxEmbedded requires. It first rounds values of rounds, then
// removes histograms and answers.
func embedResult(r *tare.Result) (embedded, error) {
	document, err := packResult(r, "")
	if err != nil || len(document.Text) <= maxEmbedded {
		return document, err
	}
	short := roundResult(r)
	without := fmt.Sprintf("Figures of single rounds are rounded to %d digits in it, to keep the page short; none that is printed changes.", shortDigits)
	document, err = packResult(short, without)
	if err != nil || len(document.Text) <= maxEmbedded {
		return document, err
	}
	for i := range short.Trials {
		short.Trials[i].Histograms, short.Trials[i].Answers = nil, nil
	}
	return packResult(short, without+" The histograms and answers of single trials are left out: they stand in the document that the run kept.")
}

// packResult packs r as compressed JSON in base64.
func packResult(r *tare.Result, without string) (embedded, error) {
	var doc, compact, packed bytes.Buffer
	if err := report.JSON(&doc, r); err != nil {
		return embedded{}, err
	}
	if err := json.Compact(&compact, doc.Bytes()); err != nil {
		return embedded{}, fmt.Errorf("compact the document: %w", err)
	}
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return embedded{}, fmt.Errorf("compress the document: %w", err)
	}
	if _, err := z.Write(compact.Bytes()); err != nil {
		return embedded{}, fmt.Errorf("compress the document: %w", err)
	}
	if err := z.Close(); err != nil {
		return embedded{}, fmt.Errorf("compress the document: %w", err)
	}
	return embedded{Text: base64.StdEncoding.EncodeToString(packed.Bytes()), Without: without, Bytes: compact.Len()}, nil
}

func roundResult(r *tare.Result) *tare.Result {
	out := *r
	out.Rounds = slices.Clone(r.Rounds)
	for i := range out.Rounds {
		out.Rounds[i].Effects, out.Rounds[i].Sums = roundValues(r.Rounds[i].Effects), roundValues(r.Rounds[i].Sums)
	}
	out.Scaling = slices.Clone(r.Scaling)
	for i := range out.Scaling {
		out.Scaling[i].PerRound = roundValues(r.Scaling[i].PerRound)
	}
	out.BreakEven = slices.Clone(r.BreakEven)
	for i := range out.BreakEven {
		out.BreakEven[i].Points = slices.Clone(r.BreakEven[i].Points)
		for j := range out.BreakEven[i].Points {
			out.BreakEven[i].Points[j].PerRound = roundValues(r.BreakEven[i].Points[j].PerRound)
		}
	}
	out.Trials = slices.Clone(r.Trials)
	for i := range out.Trials {
		out.Trials[i].Samples = maps.Clone(r.Trials[i].Samples)
		for w, sample := range out.Trials[i].Samples {
			out.Trials[i].Samples[w] = tare.Sample{}
			for key, x := range sample {
				out.Trials[i].Samples[w][key] = roundValue(x)
			}
		}
	}
	return &out
}

func roundValues(values []float64) []float64 {
	out := slices.Clone(values)
	for i, x := range out {
		out[i] = roundValue(x)
	}
	return out
}

// roundValue rounds x to shortDigits digits. Integers stay.
func roundValue(x float64) float64 {
	if x == math.Trunc(x) {
		return x
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', shortDigits, 64), 64)
	if err != nil {
		return x
	}
	return short
}
