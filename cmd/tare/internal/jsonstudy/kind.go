package jsonstudy

import (
	"context"
	"fmt"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/kinds/codec"
	"github.com/tarebench/tare/lab"
)

// Kind runs JSON codecs on the user's documents and compares their output with that of encoding/json.
// The lab, which measures a study, calls its methods. Other numbers or texts are reported. A codec that
// loses parts of a document or returns an error is disqualified.
type Kind struct {
	codecs lab.Kind // starts codecs
	docs   []codec.Document
	pool   [][]byte             // bodies of docs without line ends
	works  map[string]workState // by id of the workload
	shown  map[string]string    // reported texts of differences, by workload, fields and class

	baseline string         // first toolchain of a study of Go releases; otherwise ""
	tests    []*releaseTest // further tests of a study of Go releases; nil before Refer
}

type workState struct {
	fixture   string
	op        string
	reference [][]byte // output of encoding/json for each document; nil before Refer
	verb      string   // "decodes", "encodes"
}

var (
	_ lab.Describer = (*Kind)(nil)
	_ lab.Examiner  = (*Kind)(nil)
)

// NewKind returns a kind for docs; codecs is the kind that starts codecs.
func NewKind(codecs lab.Kind, docs []codec.Document) *Kind {
	k := &Kind{codecs: codecs, docs: docs, pool: poolBodies(docs), works: map[string]workState{}, shown: map[string]string{}}
	for _, w := range allWorkloads() {
		k.works[w.ID] = workState{fixture: fixtureOf(w), op: w.Op, verb: verbOf(w)}
	}
	return k
}

// Input writes the documents into dir and returns the workload that reads them.
func (k *Kind) Input(w tare.Workload, _, dir string) (wire.Workload, error) {
	work, ok := k.works[w.ID]
	if !ok {
		return wire.Workload{}, fmt.Errorf("workload %q is not about a document", w.ID)
	}
	in, err := codec.Pool(dir, k.pool)
	if err != nil {
		return wire.Workload{}, fmt.Errorf("write input of workload %q: %w", w.ID, err)
	}
	in.ID, in.Fixture, in.Op = w.ID, work.fixture, work.op
	return in, nil
}

// Describe sets the total size of the documents.
func (k *Kind) Describe(w tare.Workload, _ wire.Workload) (tare.Workload, error) {
	w.Bytes = 0
	for _, b := range k.pool {
		w.Bytes += int64(len(b))
	}
	return w, nil
}

// Open starts one trial, a process.
func (k *Kind) Open(ctx context.Context, p build.Program, spec trial.Spec) (trial.Conn, error) {
	return k.codecs.Open(ctx, p, spec)
}

// Compare returns the differences that disqualify a codec. The input document is also a correct output:
// the null contender, which does nothing and shows the cost of measuring, returns it.
func (k *Kind) Compare(w wire.Workload, answers []wire.Answer) ([]string, error) {
	reference := k.works[w.ID].reference
	var wrong []string
	for _, a := range answers {
		if a.Case < 0 || a.Case >= len(k.pool) {
			return nil, fmt.Errorf("workload %q: answer for document %d, which was not requested", w.ID, a.Case)
		}
		if a.Error != "" {
			wrong = append(wrong, fmt.Sprintf("%s: returned the error %q", k.docs[a.Case], a.Error))
			continue
		}
		d, differs := compareDocuments(reference[a.Case], a.Output)
		if differs && d.lost && !haveSameValues(k.pool[a.Case], a.Output) {
			wrong = append(wrong, fmt.Sprintf("%s: %s", k.docs[a.Case], d))
		}
	}
	return wrong, nil
}

func haveSameValues(a, b []byte) bool {
	d, differs := compareDocuments(a, b)
	return !differs || d.form
}

// Reference names the implementation whose output is the reference.
func (k *Kind) Reference() string {
	if k.baseline != "" {
		return "encoding/json " + k.baseline
	}
	if named, ok := k.codecs.(interface{ Reference() string }); ok {
		return named.Reference()
	}
	return "encoding/json"
}

// Exams returns the semantics tests, whose differences are reported but do not disqualify. They have
// the documents of each workload. A study of releases has further tests.
func (k *Kind) Exams(dir string) ([]wire.Workload, error) {
	var list []wire.Workload
	for _, w := range allWorkloads() {
		if k.works[w.ID].reference == nil { // not in the study
			continue
		}
		in, err := k.Input(w, "", dir)
		if err != nil {
			return nil, err
		}
		list = append(list, in)
	}
	for _, t := range k.tests {
		in, err := t.writeInput(dir)
		if err != nil {
			return nil, err
		}
		list = append(list, in)
	}
	return list, nil
}

// Differ returns the difference of an output from the reference, in values or else in spelling. After
// decoding, another spelling means another Go value, such as a json.Number with other digits. Documents
// that differ in the same fields get the same text, about the first of them. The lab calls Differ for
// the documents of a contender in order.
func (k *Kind) Differ(asked wire.Workload, a wire.Answer) (tare.Difference, bool) {
	if t := k.findTest(asked.ID); t != nil {
		return t.differ(a)
	}
	work := k.works[asked.ID]
	if a.Case == 0 { // the first document of a contender: forget the texts of the previous one
		for key := range k.shown {
			if strings.HasPrefix(key, asked.ID+" ") {
				delete(k.shown, key)
			}
		}
	}
	if a.Case < 0 || a.Case >= len(work.reference) {
		return tare.Difference{}, false
	}
	document := k.docs[a.Case].String()
	out := tare.Difference{Op: work.op, Case: asked.ID + " " + document, Asked: document, BearsOn: []string{work.op}}
	if a.Error != "" {
		out.Property, out.Class, out.Got = "documents", tare.DiffersInAcceptance, format.Clip("refused: "+a.Error, maxShown)
		out.Reference, out.Says = "accepted", "refuses "+document
		return out, true
	}
	d, differs := compareDocuments(work.reference[a.Case], a.Output)
	if !differs {
		return tare.Difference{}, false
	}
	out.Property, out.Class = d.generalPath(), tare.DiffersInValue
	out.Asked, out.Reference, out.Got = document+" "+d.path, d.want, d.gotText()
	if d.form {
		out.Class = tare.DiffersInForm
	}
	key := asked.ID + " " + d.fieldPaths() + " " + string(out.Class)
	if k.shown[key] == "" {
		k.shown[key] = d.describe(work.verb, k.docs, a.Case)
	}
	out.Says = k.shown[key]
	return out, true
}

// maxShown limits the printed characters of a value.
const maxShown = 80
