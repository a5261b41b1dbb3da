package main

import (
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contenders/codec/protobuf/model"
)

// A probe is an edge case: a value on which codecs differ.

// unsupportedProbe replaces a message that the schema cannot represent. encodeMessage returns why. An error of
// loadMessage would end the test of all probes.
type unsupportedProbe struct{ why error }

// toProbe converts p to a message. It fails if the schema cannot represent p.
func toProbe(p fixture.Probe) (*model.Probe, error) {
	value, err := structpb.NewValue(p.Any)
	if err != nil {
		return nil, err
	}
	m := &model.Probe{
		Text: p.Text, Float: p.Float, Single: p.Single, Int: p.Int, Uint: p.Uint, Flag: p.Flag,
		Bytes: p.Bytes, List: p.List, Any: value, Time: timestamppb.New(p.Time),
	}
	if p.Counts != nil {
		m.Counts = map[string]int64{}
		for k, n := range p.Counts {
			m.Counts[k] = int64(n)
		}
	}
	if p.Pointer != nil {
		n := int64(*p.Pointer)
		m.Pointer = &n
	}
	return m, nil
}

func fromProbe(m *model.Probe) fixture.Probe {
	p := fixture.Probe{
		Text: m.GetText(), Float: m.GetFloat(), Single: m.GetSingle(), Int: m.GetInt(), Uint: m.GetUint(), Flag: m.GetFlag(),
		Bytes: m.GetBytes(), List: m.GetList(), Any: m.GetAny().AsInterface(), Time: m.GetTime().AsTime(),
	}
	if m.Counts != nil {
		p.Counts = map[string]int{}
		for k, n := range m.GetCounts() {
			p.Counts[k] = int(n)
		}
	}
	if m.Pointer != nil {
		n := int(m.GetPointer())
		p.Pointer = &n
	}
	return p
}
