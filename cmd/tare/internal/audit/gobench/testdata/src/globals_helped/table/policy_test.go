package table

import "testing"

func TestUnknown(t *testing.T) {
	for _, c := range []struct {
		name  string
		setUp func()
	}{
		{"none", func() {}},
		{"gold", ResetPolicies},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.setUp() // want `removes what an init function registered, although BenchmarkPolicyFor`
			if c.name == "gold" && PolicyFor(c.name) != 0 {
				t.Fatal("found")
			}
		})
	}
}

var rate int

func BenchmarkPolicyFor(b *testing.B) {
	for i := 0; i < b.N; i++ {
		rate = PolicyFor("gold")
	}
}
