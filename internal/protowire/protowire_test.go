package protowire_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/tarebench/tare/internal/protowire"
)

func TestWalkReadsWhatAppendWrites(t *testing.T) {
	m := protowire.AppendNumber(nil, 1, 300)
	m = protowire.AppendNumber(m, 2, 0)
	m = protowire.AppendNumber(m, 3, -1)
	m = protowire.AppendString(m, 200, "name")
	m = protowire.AppendString(m, 5, "")
	m = protowire.AppendBytes(m, 6, []byte{1, 0xac, 2})
	m = append(m, 7<<3|5, 1, 2, 3, 4, 8<<3|1, 1, 2, 3, 4, 5, 6, 7, 8)
	var numbers []int
	var raw []byte
	err := protowire.Walk(m, func(f protowire.Field) error {
		numbers, raw = append(numbers, f.Number), append(raw, f.Raw...)
		switch f.Number {
		case 1:
			if f.N != 300 {
				t.Errorf("field 1: %d", f.N)
			}
		case 3:
			if int64(f.N) != -1 {
				t.Errorf("field 3: %d", int64(f.N))
			}
		case 200:
			if string(f.Data) != "name" {
				t.Errorf("field 200: %q", f.Data)
			}
		case 6:
			if n, err := f.Numbers(nil); err != nil || !slices.Equal(n, []uint64{1, 300}) {
				t.Errorf("field 6: %v, %v", n, err)
			}
		}
		return nil
	})
	if err != nil || !slices.Equal(numbers, []int{1, 3, 200, 6, 7, 8}) || !bytes.Equal(raw, m) {
		t.Errorf("fields %v, %v", numbers, err)
	}
}

func TestWalkRefuses(t *testing.T) {
	for name, m := range map[string][]byte{
		"a cut tag":       {0x80},
		"field zero":      {0, 1},
		"a cut number":    {8, 0x80},
		"a cut length":    {10, 0x80},
		"too long":        {10, 5, 1},
		"a length beyond": {10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
		"a group":         {11},
		"cut fixed 32":    {13, 1, 2, 3},
		"cut fixed 64":    {9, 1, 2, 3, 4, 5, 6, 7},
	} {
		if err := protowire.Walk(m, func(protowire.Field) error { return nil }); !errors.Is(err, protowire.ErrMessage) {
			t.Errorf("%s: %v", name, err)
		}
	}
	stop := errors.New("stop")
	if err := protowire.Walk([]byte{8, 1, 8, 2}, func(protowire.Field) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("visit's error: %v", err)
	}
}

func FuzzWalk(f *testing.F) {
	f.Add([]byte{8, 1, 18, 2, 1, 2, 29, 1, 2, 3, 4})
	f.Fuzz(func(t *testing.T, m []byte) {
		var raw []byte
		if err := protowire.Walk(m, func(f protowire.Field) error { raw = append(raw, f.Raw...); return nil }); err == nil && !bytes.Equal(raw, m) {
			t.Errorf("%x was read as %x", m, raw)
		}
	})
}
