package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
)

// opaque is a binary codec: JSON behind two bytes that no JSON begins with.
func opaque() Impl {
	put := func(w io.Writer, v any) error {
		text, err := json.Marshal(v)
		_, _ = w.Write(append([]byte{0xff, 0}, text...))
		return err
	}
	return Impl{
		Marshal: func(v any) ([]byte, error) {
			var b bytes.Buffer
			err := put(&b, v)
			return b.Bytes(), err
		},
		Stream: put,
		Unmarshal: func(data []byte, into any) error {
			text, ok := bytes.CutPrefix(data, []byte{0xff, 0})
			if !ok {
				return fmt.Errorf("%.9q is not opaque", data)
			}
			return json.Unmarshal(text, into)
		},
		Binary: true,
	}
}

// sameJSON compares what two texts mean.
func sameJSON(have, want []byte) bool {
	var h, w any
	return json.Unmarshal(have, &h) == nil && json.Unmarshal(want, &w) == nil && reflect.DeepEqual(h, w)
}

// all asks for every case of a pool of four, and for four operations.
func all() []wire.Request {
	return []wire.Request{{Op: wire.OpAnswer, Cases: []int{0, 1, 2, 3}}, {Op: wire.OpSlice, Until: "ops", Ops: 4}}
}

// refused reports that the operation is not supported, which is no error.
func refused(replies []wire.Reply) bool { return replies[1].Unsupported && replies[1].Error == nil }

func TestFields(t *testing.T) {
	own := Impl{Fields: func(name string) func([]byte) (any, error) {
		if name != "devices" {
			return nil
		}
		return func(data []byte) (any, error) {
			text, err := fixture.Fields(name, data)
			return json.RawMessage(text), err
		}
	}}
	typed := std()
	typed.Typed, typed.Fields = true, own.Fields
	for name, i := range map[string]Impl{"default": std(), "only fields": own, "typed": typed, "null": Null()} {
		got, bodies := talk(t, one(i), "", "devices", OpFields, all()...)
		if got[1].Error != nil || got[1].Unsupported || got[1].Fresh {
			t.Fatalf("%s: prepare: %+v", name, got[1])
		}
		for k, a := range got[2].Answers {
			want, err := fixture.Fields("devices", bodies[k])
			if err != nil || a.Error != "" || a.Size != 0 || !sameJSON(a.Output, want) {
				t.Errorf("%s: case %d: %+v %s, want %s (%v)", name, k, a, a.Output, want, err)
			}
		}
		if got[3].Ops != 4 || got[3].Errors != 0 || got[3].BytesOut != 0 {
			t.Errorf("%s: slice %+v", name, got[3])
		}
	}
	mute := std()
	mute.Typed = true
	binary := opaque()
	binary.Fields = own.Fields
	for name, i := range map[string]Impl{"typed, no picker": mute, "binary": opaque(), "binary with a picker": binary, "encoder": {Marshal: json.Marshal}} {
		if got, _ := talk(t, one(i), "", "devices", OpFields); !refused(got) {
			t.Errorf("%s: %+v", name, got[1])
		}
	}
	for name, i := range map[string]Impl{"": std(), "no such fixture": std(), "events": own, "documents": std()} {
		if got, _ := talk(t, one(i), "", name, OpFields); !refused(got) {
			t.Errorf("fixture %q: %+v", name, got[1])
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for name, i := range map[string]Impl{"json": std(), "binary": opaque(), "null": Null()} {
		got, bodies := talk(t, one(i), "", "devices", OpRoundTrip, all()...)
		if got[1].Error != nil || got[1].Fresh == i.Shared {
			t.Fatalf("%s: prepare: %+v", name, got[1])
		}
		var sum int64
		for k, a := range got[2].Answers {
			sum += a.Size
			if extra := a.Size - int64(len(bodies[k])); a.Error != "" || !sameJSON(a.Output, bodies[k]) || extra != 0 && !(i.Binary && extra == 2) {
				t.Errorf("%s: case %d: size %d, %s", name, k, a.Size, a.Output)
			}
		}
		if got[3].BytesOut != sum || got[3].Errors != 0 {
			t.Errorf("%s: slice %+v, answers have %d bytes", name, got[3], sum)
		}
	}
	untyped := std()
	untyped.Target = func(string) func() any { return nil }
	for name, i := range map[string]Impl{"encoder": {Marshal: json.Marshal}, "decoder": {Unmarshal: json.Unmarshal}, "no type": untyped} {
		if got, _ := talk(t, one(i), "", "devices", OpRoundTrip); !refused(got) {
			t.Errorf("%s: %+v", name, got[1])
		}
	}
}

// TestRoundTripErrors: either half can fail, or panic, and only that case does.
func TestRoundTripErrors(t *testing.T) {
	calls := 0
	odd := func(err error) error {
		switch calls++; calls {
		case 2:
			return err
		case 3:
			panic("ouch")
		}
		return nil
	}
	out, back := std(), std()
	out.Marshal = func(v any) ([]byte, error) {
		if err := odd(errors.New("no out")); err != nil {
			return nil, err
		}
		return json.Marshal(v)
	}
	back.Unmarshal = func(data []byte, into any) error {
		if err := odd(errors.New("no back")); err != nil {
			return err
		}
		return json.Unmarshal(data, into)
	}
	for want, i := range map[string]Impl{"no out": out, "no back": back} {
		calls = 0
		got, _ := talk(t, one(i), "", "devices", OpRoundTrip, all()...)
		a := got[2].Answers
		if got[2].Error != nil || len(a) != 4 {
			t.Fatalf("%s: %+v", want, got[2])
		}
		if a[0].Error != "" || a[1].Error != want || !strings.HasPrefix(a[2].Error, "panic: ouch (") || a[3].Error != "" {
			t.Errorf("%+v", a)
		}
		if a[1].Output != nil || a[1].Size != 0 || a[2].Output != nil {
			t.Errorf("a failed case shows another's output: %+v", a)
		}
	}
}

// TestBinary: answers are JSON of what the codec reads in its own bytes, and
// say how many of those there were.
func TestBinary(t *testing.T) {
	for op, encodes := range map[string]bool{OpMarshal: true, OpStream: true, OpUnmarshal: false, OpAny: false} {
		got, bodies := talk(t, one(opaque()), "", "devices", op, all()...)
		if got[1].Error != nil || got[1].Unsupported {
			t.Fatalf("%s: prepare: %+v", op, got[1])
		}
		var sum int64
		for k, a := range got[2].Answers {
			if a.Error != "" || !sameJSON(a.Output, bodies[k]) {
				t.Errorf("%s: case %d: %q %s", op, k, a.Error, a.Output)
			}
			if want := int64(len(bodies[k]) + 2); encodes && a.Size != want || !encodes && a.Size != 0 {
				t.Errorf("%s: case %d has size %d, encoded it has %d", op, k, a.Size, want)
			}
			sum += a.Size
		}
		if got[3].BytesOut != sum || got[3].Errors != 0 {
			t.Errorf("%s: slice %+v, answers have %d bytes", op, got[3], sum)
		}
	}
	blind, mute, typed, untyped := opaque(), opaque(), opaque(), opaque()
	blind.Unmarshal, mute.Marshal, typed.Typed = nil, nil, true
	untyped.Target = func(string) func() any { return nil }
	for _, tt := range []struct {
		i           Impl
		fixture, op string
	}{
		{blind, "devices", OpMarshal}, {blind, "devices", OpStream}, {blind, "devices", OpUnmarshal},
		{mute, "devices", OpUnmarshal}, {mute, "devices", OpAny}, {mute, "devices", OpMarshal},
		{typed, "devices", OpAny}, {untyped, "devices", OpMarshal}, {untyped, "devices", OpUnmarshal},
		{opaque(), "documents", OpUnmarshal}, {opaque(), "texts", OpAny}, // there is no such encoding to be odd
	} {
		if got, _ := talk(t, one(tt.i), "", tt.fixture, tt.op); !refused(got) {
			t.Errorf("%s of %s: %+v", tt.op, tt.fixture, got[1])
		}
	}
}

// TestBinaryGoesWrong: a codec that cannot read, or reads otherwise, what it
// put out has that as its answer.
func TestBinaryGoesWrong(t *testing.T) {
	lossy, deaf, fails := opaque(), opaque(), opaque()
	lossy.Marshal = func(any) ([]byte, error) { return []byte("\xff\x00[]"), nil }
	deaf.Marshal = json.Marshal
	fails.Marshal = func(any) ([]byte, error) { return nil, errors.New("not registered") }
	got, _ := talk(t, one(lossy), "", "devices", OpMarshal, all()...)
	if a := got[2].Answers[1]; string(a.Output) != "[]" || a.Size != 4 || a.Error != "" {
		t.Errorf("lossy: %+v", a)
	}
	got, _ = talk(t, one(deaf), "", "devices", OpMarshal, all()...)
	if a := got[2].Answers[1]; !strings.HasPrefix(a.Error, "what it put out cannot be read again: ") || a.Output != nil || a.Size != 0 {
		t.Errorf("deaf: %+v", a)
	}
	if got, _ = talk(t, one(fails), "", "devices", OpUnmarshal); got[1].Error == nil || got[1].Error.Message != "encode body 0: not registered" {
		t.Errorf("fails: %+v", got[1])
	}
}

// TestPlain: what Unmarshal filled is turned into the fixture's types before it
// is shown, wherever something decoded is shown.
func TestPlain(t *testing.T) {
	type own struct{ list []fixture.Device }
	i := opaque()
	read := i.Unmarshal
	i.Target = func(string) func() any { return func() any { return new(own) } }
	i.Unmarshal = func(data []byte, into any) error {
		if p, ok := into.(*own); ok {
			return read(data, &p.list)
		}
		return read(data, into)
	}
	i.Plain = func(v any) (any, error) {
		switch p := v.(type) {
		case *own:
			return p.list, nil
		case *any:
			return p, nil
		}
		return nil, fmt.Errorf("a %T", v)
	}
	for _, op := range []string{OpMarshal, OpStream, OpUnmarshal, OpAny, OpRoundTrip} {
		got, bodies := talk(t, one(i), "", "devices", op, all()...)
		for k, a := range got[2].Answers {
			if a.Error != "" || !sameJSON(a.Output, bodies[k]) {
				t.Errorf("%s: case %d: %q %s", op, k, a.Error, a.Output)
			}
		}
	}
	i.Plain = func(any) (any, error) { return nil, errors.New("not plain") }
	for _, op := range []string{OpMarshal, OpUnmarshal, OpRoundTrip} {
		if got, _ := talk(t, one(i), "", "devices", op, all()...); got[2].Answers[0].Error != "not plain" {
			t.Errorf("%s: %+v", op, got[2].Answers[0])
		}
	}
}

// TestNothingAllocates: neither the kind nor the null contender adds a single
// allocation to what a codec does.
func TestNothingAllocates(t *testing.T) {
	place := new(json.RawMessage)
	codec := Impl{
		Load:      func(_ string, canonical []byte) (any, error) { return canonical, nil },
		Target:    func(string) func() any { return func() any { return place } },
		Marshal:   func(v any) ([]byte, error) { return v.([]byte), nil },
		Stream:    func(w io.Writer, v any) error { _, err := w.Write(v.([]byte)); return err },
		Unmarshal: func(data []byte, into any) error { *into.(*json.RawMessage) = data; return nil },
		Fields:    func(string) func([]byte) (any, error) { return func([]byte) (any, error) { return place, nil } },
	}
	bodies, err := fixture.Pool("devices", 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	for name, i := range map[string]Impl{"codec": codec, "null": Null()} {
		ops := []string{OpMarshal, OpUnmarshal, OpFields, OpRoundTrip, OpStream}
		if name == "null" { // a codec's any is a new one every time
			ops = append(ops, OpAny)
		}
		for _, op := range ops {
			work, err := i.prepareOp(wire.Workload{Fixture: "devices", Op: op}, bodies)
			if err != nil {
				t.Fatalf("%s of %s: %v", op, name, err)
			}
			if n := testing.AllocsPerRun(100, func() { _, _ = work.Do(0); _, _ = work.Do(1) }); n != 0 {
				t.Errorf("%s of %s allocates %v objects", op, name, n)
			}
		}
	}
}
