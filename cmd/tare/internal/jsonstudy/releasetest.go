package jsonstudy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	contender "github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/kinds/codec"
	"github.com/tarebench/tare/lab"
)

// NewReleaseKind returns a kind for docs in a study of encoding/json in several Go releases. The
// baseline is the first toolchain. The kind also compares damaged documents and unusual values.
func NewReleaseKind(codecs lab.Kind, docs []codec.Document, baseline string) *Kind {
	k := NewKind(codecs, docs)
	k.baseline = baseline
	return k
}

// releaseTest is a semantics test that reports inputs on which releases differ. Its reference comes
// from another program: encoding/json in this process has the release of tare.
type releaseTest struct {
	id, fixture, op string
	cases           []releaseCase
	reference       []wire.Answer // outcomes of the baseline, one for each case
}

type releaseCase struct {
	id       string // unique for the fixture
	property string // row of the table of differences
	input    string // the input as text
	noun     string // the input as a noun phrase: "a document with a key twice"
	body     []byte // the input itself
}

// errorTexts is the row of differences only in the text of an error.
const errorTexts = "texts of errors"

// newReleaseTests returns a test on damaged documents for each decoding workload.
func newReleaseTests(docs []codec.Document, study tare.Study) []*releaseTest {
	var out []*releaseTest
	for _, w := range study.Workloads {
		if w.Op == contender.OpMarshal {
			continue // encoding needs a decoded value, and damaged documents cannot be decoded
		}
		out = append(out, &releaseTest{id: "damaged/" + w.ID, fixture: fixtureOf(w), op: w.Op, cases: newDamagedCases(docs)})
	}
	for _, t := range []releaseTest{
		{fixture: "probes", op: contender.OpMarshal},
		{fixture: "probes", op: contender.OpRoundTrip},
		{fixture: "documents", op: contender.OpUnmarshal},
		{fixture: "texts", op: contender.OpAny},
	} {
		t.id = "unusual/" + t.fixture + "/" + t.op
		for _, c := range fixture.Cases(t.fixture) {
			t.cases = append(t.cases, releaseCase{id: c.Name, property: c.Property, input: c.Asked, noun: c.What, body: c.Body})
		}
		out = append(out, &t)
	}
	return out
}

func (t *releaseTest) writeInput(dir string) (wire.Workload, error) {
	bodies := make([][]byte, len(t.cases))
	for i, c := range t.cases {
		bodies[i] = c.body
	}
	in, err := codec.Pool(dir, bodies)
	if err != nil {
		return wire.Workload{}, fmt.Errorf("write input of test %q: %w", t.id, err)
	}
	in.ID, in.Fixture, in.Op = t.id, t.fixture, t.op
	return in, nil
}

// loadReference stores the baseline's outcomes of all cases.
func (t *releaseTest) loadReference(ctx context.Context, s *trial.Session, dir string) error {
	in, err := t.writeInput(dir)
	if err != nil {
		return err
	}
	prepared, err := s.Prepare(ctx, in)
	if err != nil {
		return err
	}
	if prepared.Unsupported {
		return fmt.Errorf("%s cannot do %s", Baseline, in.ID)
	}
	t.reference = make([]wire.Answer, len(t.cases))
	for i := range t.cases {
		answers, err := s.Answer(ctx, t.id, []int{i})
		var failed *tare.TrialError
		switch {
		case err == nil:
			t.reference[i] = answers[0]
		case errors.As(err, &failed) && failed.Class == tare.ErrContender: // e.g. a panic that the program recovered
			t.reference[i] = wire.Answer{Case: i, Error: format.Line(failed.Message, 0)}
		default:
			return err
		}
	}
	return nil
}

// differ compares an outcome with the baseline's. It returns false if they are equal. If both are errors
// with different texts, BearsOn is nil: no operation is affected, because both reject the input.
func (t *releaseTest) differ(a wire.Answer) (tare.Difference, bool) {
	if a.Case < 0 || a.Case >= len(t.reference) {
		return tare.Difference{}, false
	}
	want, c := t.reference[a.Case], t.cases[a.Case]
	d := tare.Difference{Property: c.property, Op: t.op, Case: c.id, Asked: c.input, Reference: describeOutcome(want), Got: describeOutcome(a), BearsOn: []string{t.op}}
	switch {
	case want.Error != "" && a.Error != "":
		d.Property, d.Class, d.BearsOn = errorTexts, tare.DiffersInForm, nil
		d.Says = fmt.Sprintf("refuses %s with %q, not %q", c.noun, a.Error, want.Error)
		return d, a.Error != want.Error
	case a.Error != "":
		d.Class, d.Says = tare.DiffersInAcceptance, fmt.Sprintf("refuses %s: %s", c.noun, a.Error)
		return d, true
	case want.Error != "":
		d.Class, d.Says = tare.DiffersInAcceptance, "accepts "+c.noun
		return d, true
	case bytes.Equal(want.Output, a.Output):
		return d, false
	}
	d.Class = tare.DiffersInValue
	if json.Valid(want.Output) { // otherwise it is the text of a Go value
		found, differs := compareDocuments(want.Output, a.Output)
		if !differs {
			return d, false
		}
		if found.form {
			d.Class = tare.DiffersInForm
		}
		d.Reference, d.Got = found.want, found.gotText()
	}
	d.Says = fmt.Sprintf("makes %s of %s, not %s", d.Got, c.noun, d.Reference)
	return d, true
}

func describeOutcome(a wire.Answer) string {
	if a.Error != "" {
		return format.Clip("refused: "+a.Error, maxShown)
	}
	return format.Clip(string(a.Output), maxShown)
}

func (k *Kind) loadTests(ctx context.Context, s *trial.Session, study tare.Study, dir string) error {
	if k.baseline == "" {
		return nil
	}
	k.tests = newReleaseTests(k.docs, study)
	for _, t := range k.tests {
		if err := t.loadReference(ctx, s, dir); err != nil {
			return err
		}
	}
	return nil
}

func (k *Kind) findTest(id string) *releaseTest {
	if i := slices.IndexFunc(k.tests, func(t *releaseTest) bool { return t.id == id }); i >= 0 {
		return k.tests[i]
	}
	return nil
}
