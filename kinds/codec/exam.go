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

var _ lab.Examiner = (*Kind)(nil)

// exam asks one operation for every case of a set.
type exam struct {
	id      string
	set     string // of cases
	fixture string // that contenders are told
	op      string
	bearsOn []string // operations of workloads whose users meet what comes out

	// reference is the outcome that encoding/json in this process comes to.
	reference func(c fixture.Case) (text []byte, err error)
	// compare holds the contender's text of the case against the reference's.
	// Neither is an error.
	compare func(c fixture.Case, want, got []byte) finding
	phrases phrases
}

// exams are all there are. The first difference of the gravest class is the
// one told with a speed, so what is met most often comes first.
func exams() []exam {
	return []exam{
		{
			id: "exam/probes/marshal", set: "probes", fixture: "probes", op: codec.OpMarshal,
			bearsOn:   []string{codec.OpMarshal, codec.OpStream, codec.OpRoundTrip},
			reference: encoded, compare: compareEncoded,
			phrases: phrases{refuses: "refuses to write ", accepts: "writes "},
		},
		{
			id: "exam/probes/roundtrip", set: "probes", fixture: "probes", op: codec.OpRoundTrip,
			bearsOn:   []string{codec.OpRoundTrip},
			reference: broughtBack, compare: compareBroughtBack,
			phrases: phrases{refuses: "does not bring back ", accepts: "brings back "},
		},
		{
			id: "exam/documents/unmarshal", set: "documents", fixture: "documents", op: codec.OpUnmarshal,
			bearsOn:   []string{codec.OpUnmarshal},
			reference: decoded("documents"), compare: compareShown,
			phrases: phrases{refuses: "refuses ", accepts: "accepts "},
		},
		{
			id: "exam/texts/any", set: "texts", fixture: "texts", op: codec.OpAny,
			bearsOn:   []string{codec.OpAny},
			reference: decoded("texts"), compare: compareShown,
			phrases: phrases{refuses: "refuses ", accepts: "accepts "},
		},
		{
			id: "exam/excerpts/fields", set: "excerpts", fixture: "devices", op: codec.OpFields,
			bearsOn:   []string{codec.OpFields},
			reference: picked, compare: comparePicked,
			phrases: phrases{refuses: "refuses ", accepts: "accepts "},
		},
	}
}

// question is one case of an exam, and what the reference makes of it.
type question struct {
	fixture.Case
	want []byte
	err  error
}

// Reference names what answers are compared with.
func (k *Kind) Reference() string { return "encoding/json " + runtime.Version() }

// Exams writes the cases of all exams into dir, one body per line.
func (k *Kind) Exams(dir string) ([]wire.Workload, error) {
	var list []wire.Workload
	for _, e := range exams() {
		bodies, err := fixture.Pool(e.set, 0, 0)
		if err != nil {
			return nil, err
		}
		in, err := k.write(dir, bodies)
		if err != nil {
			return nil, err
		}
		in.ID, in.Fixture, in.Op = e.id, e.fixture, e.op
		list = append(list, in)
	}
	return list, nil
}

// Differ holds one answer against what encoding/json makes of the case. What
// an error says does not count, nor what else than the case's own field there
// is in an answer: other cases are about that.
func (k *Kind) Differ(asked wire.Workload, a wire.Answer) (tare.Difference, bool) {
	for _, e := range exams() {
		if e.id != asked.ID {
			continue
		}
		list := k.questions(e)
		if a.Case < 0 || a.Case >= len(list) {
			return tare.Difference{}, false
		}
		return e.differ(list[a.Case], a)
	}
	return tare.Difference{}, false
}

// questions are worked out once.
func (k *Kind) questions(e exam) []question {
	k.mu.Lock()
	defer k.mu.Unlock()
	if list, ok := k.asked[e.id]; ok {
		return list
	}
	var list []question
	for _, c := range fixture.Cases(e.set) {
		q := question{Case: c}
		q.want, q.err = e.reference(c)
		list = append(list, q)
	}
	k.asked[e.id] = list
	return list
}

// encoded is the reference of a probe that is encoded.
func encoded(c fixture.Case) ([]byte, error) {
	v, err := fixture.Decode("probes", c.Body)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// broughtBack is the reference of a probe that is encoded and decoded.
func broughtBack(c fixture.Case) ([]byte, error) {
	text, err := encoded(c)
	if err != nil {
		return nil, err
	}
	into := fixture.Target("probes")()
	if err := json.Unmarshal(text, into); err != nil {
		return nil, err
	}
	return fixture.Show(into), nil
}

// decoded is the reference of a document that is decoded as set has it.
func decoded(set string) func(c fixture.Case) ([]byte, error) {
	return func(c fixture.Case) ([]byte, error) {
		v, err := fixture.Decode(set, c.Body)
		if err != nil {
			return nil, err
		}
		return fixture.Show(v), nil
	}
}

// picked is the reference of a document that a few fields are picked out of.
func picked(c fixture.Case) ([]byte, error) { return fixture.Fields("devices", c.Body) }
