// Package json_test repeats a published benchmark of JSON encoders, with only the
// testing package:
//
//	cd bench/json && GOWORK=off go test -bench . -benchtime 3s
//
// It encodes the same list of 50 devices repeatedly, as the write-up did (11,598
// bytes of JSON), under the names of the write-up. JsoniterStream flushes its
// stream; the write-up did not, and its code is JsoniterStreamUnflushed here.
//
// Differences between two lines of one run are not findings yet: contenders run
// one after another in one process, and the variation between runs of the same code
// is unknown. tare run json-encode measures it.
package json_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	jsoniter "github.com/json-iterator/go"

	"github.com/tarebench/tare/contender/fixture"
)

const (
	publishedBytes = 11598 // bytes of JSON of the list in the write-up
	streamBuffer   = 512   // initial size of the buffer of a jsoniter stream
)

// devices returns the input of the published benchmark. As there, it is passed as a
// slice, whose conversion to an interface is part of every operation: one allocation
// of 24 B, which contenders of tare do not have.
func devices(tb testing.TB) []fixture.Device {
	tb.Helper()
	pool, err := fixture.Pool("devices", 50, 1)
	if err != nil {
		tb.Fatal(err)
	}
	v, err := fixture.Decode("devices", pool[0])
	if err != nil {
		tb.Fatal(err)
	}
	return v.([]fixture.Device)
}

// encoders returns the encoders by the names of their benchmarks.
func encoders() map[string]func(v any) ([]byte, error) {
	return map[string]func(v any) ([]byte, error){
		"StdlibMarshal":      json.Marshal,
		"JsoniterFastest":    jsoniter.ConfigFastest.Marshal,
		"JsoniterCompatible": jsoniter.ConfigCompatibleWithStandardLibrary.Marshal,
		"StdlibEncoder": func(v any) ([]byte, error) {
			var buf bytes.Buffer
			err := json.NewEncoder(&buf).Encode(v)
			return buf.Bytes(), err
		},
		"JsoniterStream": func(v any) ([]byte, error) {
			var buf bytes.Buffer
			stream := jsoniter.NewStream(jsoniter.ConfigFastest, &buf, streamBuffer)
			stream.WriteVal(v)
			err := stream.Flush()
			return buf.Bytes(), err
		},
		"JsoniterStreamUnflushed": func(v any) ([]byte, error) {
			var buf bytes.Buffer
			stream := jsoniter.NewStream(jsoniter.ConfigFastest, &buf, streamBuffer)
			stream.WriteVal(v)
			return buf.Bytes(), stream.Error
		},
	}
}

func BenchmarkStdlibMarshal(b *testing.B)           { benchmark(b, "StdlibMarshal") }
func BenchmarkJsoniterFastest(b *testing.B)         { benchmark(b, "JsoniterFastest") }
func BenchmarkJsoniterCompatible(b *testing.B)      { benchmark(b, "JsoniterCompatible") }
func BenchmarkStdlibEncoder(b *testing.B)           { benchmark(b, "StdlibEncoder") }
func BenchmarkJsoniterStream(b *testing.B)          { benchmark(b, "JsoniterStream") }
func BenchmarkJsoniterStreamUnflushed(b *testing.B) { benchmark(b, "JsoniterStreamUnflushed") }

func benchmark(b *testing.B, name string) {
	encode, v := encoders()[name], devices(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := encode(v); err != nil {
			b.Fatal(err)
		}
	}
}

// TestOutputs checks that every encoder returns the JSON of the list, except the stream
// that is never flushed, whose output is not JSON.
func TestOutputs(t *testing.T) {
	v := devices(t)
	want, err := json.Marshal(v)
	if err != nil || len(want) != publishedBytes {
		t.Fatalf("%d bytes, %v; want %d", len(want), err, publishedBytes)
	}
	for name, encode := range encoders() {
		out, err := encode(v)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == "JsoniterStreamUnflushed" {
			if json.Valid(out) {
				t.Errorf("%s gives JSON", name)
			}
			continue
		}
		var have, reference any
		if err := json.Unmarshal(out, &have); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := json.Unmarshal(want, &reference); err != nil || !reflect.DeepEqual(have, reference) {
			t.Errorf("%s gives other JSON: %.200s", name, out)
		}
	}
}

// TestAllocations checks that the numbers of allocations are within 15 % of the published
// numbers, which shows that the input has the shape of the published input.
func TestAllocations(t *testing.T) {
	v := devices(t)
	for name, published := range map[string]float64{
		"StdlibMarshal":           602,
		"JsoniterFastest":         202,
		"JsoniterCompatible":      702,
		"StdlibEncoder":           604,
		"JsoniterStreamUnflushed": 295,
	} {
		encode := encoders()[name]
		got := testing.AllocsPerRun(100, func() {
			if _, err := encode(v); err != nil {
				t.Fatal(err)
			}
		})
		t.Logf("%-24s %4.0f allocs/op, published %.0f", name, got, published)
		if got < 0.85*published || got > 1.15*published {
			t.Errorf("%s: %v allocs/op, published %v", name, got, published)
		}
	}
}
