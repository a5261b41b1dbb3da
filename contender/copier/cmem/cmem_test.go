//go:build cgo

package cmem_test

import (
	"strings"
	"testing"

	"github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contender/copier/cmem"
	"github.com/tarebench/tare/contender/copier/cmem/cmemtest"
)

// TestSameAsGo: what C draws is what Go says it draws, and lies where Go looks.
func TestSameAsGo(t *testing.T) { cmemtest.Agree(t, "", copier.Fixtures()...) }

func TestNoSuchType(t *testing.T) {
	_, err := cmem.New(copier.Source{Shape: copier.Shape{C: "Planet", Count: 1}, Seeds: []uint64{1}})
	if err == nil || !strings.Contains(err.Error(), "Planet") || cmem.SizeOf("Planet") != 0 {
		t.Errorf("%v, %d bytes", err, cmem.SizeOf("Planet"))
	}
}
