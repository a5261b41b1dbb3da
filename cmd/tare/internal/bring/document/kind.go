package document

import (
	"context"
	"fmt"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/kinds/codec"
	"github.com/tarebench/tare/lab"
)

// Kind asks codecs about the user's documents. What encoding/json makes of a
// document is the reference. A codec that makes other numbers or texts of it is
// measured, but the difference is reported. One that loses parts of it, fails, or
// writes what is not JSON is disqualified.
type Kind struct {
	codecs lab.Kind // which starts them
	docs   []codec.Document
	pool   [][]byte
	works  map[string]work // by id of the workload
	said   map[string]string
}

// work is a workload and what is right on it.
type work struct {
	fixture   string
	op        string
	reference [][]byte // per document; nil: not known yet
	verb      string   // "decodes", "encodes"
}

var (
	_ lab.Describer = (*Kind)(nil)
	_ lab.Examiner  = (*Kind)(nil)
)

// NewKind asks about docs; codecs is the kind that knows how a codec is run.
func NewKind(codecs lab.Kind, docs []codec.Document) *Kind {
	k := &Kind{codecs: codecs, docs: docs, pool: bodies(docs), works: map[string]work{}, said: map[string]string{}}
	for _, w := range works() {
		k.works[w.ID] = work{fixture: fixtureOf(w), op: w.Op, verb: verbOf(w)}
	}
	return k
}

// Input writes the documents into dir.
func (k *Kind) Input(w tare.Workload, _, dir string) (wire.Workload, error) {
	own, ok := k.works[w.ID]
	if !ok {
		return wire.Workload{}, fmt.Errorf("workload %q is none of a document's", w.ID)
	}
	in, err := codec.Pool(dir, k.pool)
	if err != nil {
		return wire.Workload{}, fmt.Errorf("write input of workload %q: %w", w.ID, err)
	}
	in.ID, in.Fixture, in.Op = w.ID, own.fixture, own.op
	return in, nil
}

// Describe says how large the documents are.
func (k *Kind) Describe(w tare.Workload, _ wire.Workload) (tare.Workload, error) {
	w.Bytes = 0
	for _, b := range k.pool {
		w.Bytes += int64(len(b))
	}
	return w, nil
}

// Open starts one trial.
func (k *Kind) Open(ctx context.Context, p build.Program, spec trial.Spec) (trial.Conn, error) {
	return k.codecs.Open(ctx, p, spec)
}

// Compare finds answers that disqualify. The document as it is is right as
// well: it is what the null contender hands out.
func (k *Kind) Compare(w wire.Workload, answers []wire.Answer) ([]string, error) {
	own := k.works[w.ID]
	var wrong []string
	for _, a := range answers {
		if a.Case < 0 || a.Case >= len(k.pool) {
			return nil, fmt.Errorf("workload %q: answer for document %d, which was not asked", w.ID, a.Case)
		}
		if a.Error != "" {
			wrong = append(wrong, fmt.Sprintf("%s: returned the error %q", k.docs[a.Case], a.Error))
			continue
		}
		if d, differs := compare(own.reference[a.Case], a.Output); differs && d.lost && !sameValues(k.pool[a.Case], a.Output) {
			wrong = append(wrong, fmt.Sprintf("%s: %s", k.docs[a.Case], d))
		}
	}
	return wrong, nil
}

// sameValues reports whether two documents are equal but for order and spelling.
func sameValues(a, b []byte) bool {
	d, differs := compare(a, b)
	return !differs || d.form
}

// Reference names what answers are compared with.
func (k *Kind) Reference() string {
	if named, ok := k.codecs.(interface{ Reference() string }); ok {
		return named.Reference()
	}
	return "encoding/json"
}

// Exams are the documents themselves, once per workload.
func (k *Kind) Exams(dir string) ([]wire.Workload, error) {
	var list []wire.Workload
	for _, w := range works() {
		if k.works[w.ID].reference == nil { // it is not in the study
			continue
		}
		in, err := k.Input(w, "", dir)
		if err != nil {
			return nil, err
		}
		list = append(list, in)
	}
	return list, nil
}

// Differ says in which values, or else in which spelling, an answer is not the
// reference's. What was decoded is shown by encoding/json for everybody, so that another
// spelling there is another Go value, such as a json.Number with other digits. Documents that differ in the same place are told in the same
// words, those of the first of them; a contender is asked for all documents in
// order.
func (k *Kind) Differ(asked wire.Workload, a wire.Answer) (tare.Difference, bool) {
	own := k.works[asked.ID]
	if a.Case == 0 {
		for key := range k.said {
			if strings.HasPrefix(key, asked.ID+" ") {
				delete(k.said, key)
			}
		}
	}
	if a.Case < 0 || a.Case >= len(own.reference) {
		return tare.Difference{}, false
	}
	at := k.docs[a.Case].String()
	out := tare.Difference{Op: own.op, Case: asked.ID + " " + at, Asked: at, BearsOn: []string{own.op}}
	if a.Error != "" {
		out.Property, out.Class, out.Got = "documents", tare.DiffersInAcceptance, cut80("refused: "+a.Error)
		out.Reference, out.Says = "accepted", "refuses "+at
		return out, true
	}
	d, differs := compare(own.reference[a.Case], a.Output)
	if !differs {
		return tare.Difference{}, false
	}
	out.Property, out.Class = d.general(), tare.DiffersInValue
	out.Asked, out.Reference, out.Got = at+" "+d.path, d.want, d.made()
	if d.form {
		out.Class = tare.DiffersInForm
	}
	key := asked.ID + " " + d.fields() + " " + string(out.Class)
	if k.said[key] == "" {
		k.said[key] = d.says(own.verb, k.docs, a.Case)
	}
	out.Says = k.said[key]
	return out, true
}

func cut80(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
