package codec

import (
	"encoding/json"
	"runtime"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/lab"
)

// This file defines the semantics tests of codecs, the exams. Each codec encodes or decodes edge
// cases, and its output is compared with that of encoding/json.

var _ lab.Examiner = (*Kind)(nil)

// examSpec is a semantics test of one operation, with every case of a fixture, a named set of
// inputs.
type examSpec struct {
	id      string
	set     string // fixture whose cases are tested
	fixture string // type that contenders decode into
	op      string
	bearsOn []string // affected operations of workloads

	reference func(c fixture.Case) (text []byte, err error)     // output of encoding/json for a case
	compare   func(c fixture.Case, want, got []byte) comparison // want is the output of the reference
	phrases   phrases                                           // verbs for contenders that differ in what they accept
}

// allExams returns all semantics tests, those of common inputs first. Next to a contender's speed,
// the report prints the first of its most severe differences.
func allExams() []examSpec {
	return []examSpec{
		{
			id: "exam/probes/marshal", set: "probes", fixture: "probes", op: codec.OpMarshal,
			bearsOn:   []string{codec.OpMarshal, codec.OpStream, codec.OpRoundTrip},
			reference: encodeProbe, compare: compareEncoded,
			phrases: phrases{refuses: "refuses to write ", accepts: "writes "},
		},
		{
			id: "exam/probes/roundtrip", set: "probes", fixture: "probes", op: codec.OpRoundTrip,
			bearsOn:   []string{codec.OpRoundTrip},
			reference: roundTripProbe, compare: compareRoundTrip,
			phrases: phrases{refuses: "does not bring back ", accepts: "brings back "},
		},
		{
			id: "exam/documents/unmarshal", set: "documents", fixture: "documents", op: codec.OpUnmarshal,
			bearsOn:   []string{codec.OpUnmarshal},
			reference: decodeAs("documents"), compare: compareShown,
			phrases: phrases{refuses: "refuses ", accepts: "accepts "},
		},
		{
			id: "exam/texts/any", set: "texts", fixture: "texts", op: codec.OpAny,
			bearsOn:   []string{codec.OpAny},
			reference: decodeAs("texts"), compare: compareShown,
			phrases: phrases{refuses: "refuses ", accepts: "accepts "},
		},
		{
			id: "exam/excerpts/fields", set: "excerpts", fixture: "devices", op: codec.OpFields,
			bearsOn:   []string{codec.OpFields},
			reference: pickFields, compare: compareFields,
			phrases: phrases{refuses: "refuses ", accepts: "accepts "},
		},
	}
}

type question struct {
	fixture.Case
	want []byte // nil if err is not nil
	err  error  // nil if the reference accepts the input
}

// Reference returns the name of the codec with which outputs are compared.
func (k *Kind) Reference() string { return "encoding/json " + runtime.Version() }

// Exams writes the cases of all semantics tests into dir, one body per line.
func (k *Kind) Exams(dir string) ([]wire.Workload, error) {
	var list []wire.Workload
	for _, e := range allExams() {
		bodies, err := fixture.Pool(e.set, 0, 0) // a fixture of edge cases ignores both numbers
		if err != nil {
			return nil, err
		}
		input, err := k.writePool(dir, bodies)
		if err != nil {
			return nil, err
		}
		input.ID, input.Fixture, input.Op = e.id, e.fixture, e.op
		list = append(list, input)
	}
	return list, nil
}

// Differ compares a, the output of a contender for a case of exam, with the result of
// encoding/json. It returns false if the field that the case tests does not differ.
func (k *Kind) Differ(exam wire.Workload, a wire.Answer) (tare.Difference, bool) {
	for _, e := range allExams() {
		if e.id != exam.ID {
			continue
		}
		list := k.questionsOf(e)
		if a.Case < 0 || a.Case >= len(list) {
			return tare.Difference{}, false
		}
		return e.compareAnswer(list[a.Case], a)
	}
	return tare.Difference{}, false
}

// questionsOf returns the cases of e with the results of the reference, which it computes once.
func (k *Kind) questionsOf(e examSpec) []question {
	k.mu.Lock()
	defer k.mu.Unlock()
	if list, ok := k.questions[e.id]; ok {
		return list
	}
	var list []question
	for _, c := range fixture.Cases(e.set) {
		q := question{Case: c}
		q.want, q.err = e.reference(c)
		list = append(list, q)
	}
	k.questions[e.id] = list
	return list
}

func encodeProbe(c fixture.Case) ([]byte, error) {
	v, err := fixture.Decode("probes", c.Body)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

func roundTripProbe(c fixture.Case) ([]byte, error) {
	text, err := encodeProbe(c)
	if err != nil {
		return nil, err
	}
	decoded := fixture.Target("probes")()
	if err := json.Unmarshal(text, decoded); err != nil {
		return nil, err
	}
	return fixture.Show(decoded), nil
}

func decodeAs(set string) func(c fixture.Case) ([]byte, error) {
	return func(c fixture.Case) ([]byte, error) {
		v, err := fixture.Decode(set, c.Body)
		if err != nil {
			return nil, err
		}
		return fixture.Show(v), nil
	}
}

func pickFields(c fixture.Case) ([]byte, error) { return fixture.Fields("devices", c.Body) }
