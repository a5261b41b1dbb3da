package table

var policies = map[string]int{}

func init() { RegisterPolicy("gold", 5000) }

func RegisterPolicy(name string, rate int) { policies[name] = rate }

func ResetPolicies() { clear(policies) }

func PolicyFor(name string) int { return policies[name] }
