package globals_helped

import "testing"

// withPolicies gives a test policies of its own.
func withPolicies(t *testing.T, rates map[string]int) {
	t.Helper()
	ResetPolicies() // want `removes what an init function registered, although BenchmarkPolicyFor`
	for name, rate := range rates {
		RegisterPolicy(name, rate)
	}
}

// borrowPolicies gives the policies back.
func borrowPolicies(t *testing.T) {
	t.Cleanup(func() { RegisterPolicy("gold", 5000) })
	ResetPolicies()
}

func TestBorrowed(t *testing.T) {
	borrowPolicies(t)
	if PolicyFor("gold") != 0 {
		t.Fatal("found")
	}
}

func TestSilver(t *testing.T) {
	withPolicies(t, map[string]int{"silver": 500})
	if PolicyFor("silver") != 500 {
		t.Fatal("not found")
	}
}

var rate int

func BenchmarkPolicyFor(b *testing.B) {
	for i := 0; i < b.N; i++ {
		rate = PolicyFor("gold")
	}
}
