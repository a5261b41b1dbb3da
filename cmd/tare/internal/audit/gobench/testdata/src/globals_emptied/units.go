package globals_emptied

var units = map[string]float64{}

func init() { RegisterUnit("gram", 1) }

// RegisterUnit makes a unit known to weigh.
func RegisterUnit(name string, grams float64) { units[name] = grams }

// ResetUnits forgets all units.
func ResetUnits() { clear(units) }

// ResetSum empties no registry.
func ResetSum() { weight = 0 }

var weight float64

func weigh(name string, n float64) float64 { return n * units[name] }
