package globals_emptied

import "testing"

func TestRegisterUnit(t *testing.T) {
	ResetUnits() // want `removes what an init function registered`
	RegisterUnit("pound", 453.6)
	if weigh("pound", 2) != 907.2 {
		t.Fatal("not twice a pound")
	}
}

func TestResetSum(t *testing.T) {
	ResetSum()
	if weight != 0 {
		t.Fatal("there is a weight")
	}
}

func BenchmarkWeigh(b *testing.B) {
	for b.Loop() {
		weight = weigh("gram", 12)
	}
}
