package copier

// Contenders copy C values, such as BenchPerson, into these Go types, such as Person. The C types are in
// cmem/fixtures.h. Members are the same, except that C adds lengths of lists.

// Person is BenchPerson in C.
type Person struct {
	ID      int32
	Name    string // char[64]
	Balance float64
	Active  int32
}

// Point3D is a position or a velocity.
type Point3D struct{ X, Y, Z float64 }

// GameObject is GameObject in C.
type GameObject struct {
	ID       int32
	Name     string // char[64]
	Position Point3D
	Velocity Point3D
	Health   float32
	Level    int32
}

// AudioBuffer is AudioBuffer in C, with the same memory layout.
type AudioBuffer struct {
	Samples  [1024]float32
	Rate     int32
	Channels int32
}

// Device is an element of a DeviceList.
type Device struct {
	ID      int32
	Name    string // char *
	Reading float64
}

// DeviceList is DeviceList in C, where the lengths of the lists are members.
type DeviceList struct {
	Owner   string   // char *
	Devices []Device // Device * and a count
	Tags    []int32  // int * and a count
}

// Structs of numbers, in C's memory layout.
type (
	// Flat2 is 16 bytes.
	Flat2 struct{ V [2]float64 }
	// Flat16 is 128 bytes.
	Flat16 struct{ V [16]float64 }
	// Flat128 is 1 KiB.
	Flat128 struct{ V [128]float64 }
	// Flat1024 is 8 KiB.
	Flat1024 struct{ V [1024]float64 }
	// Flat8192 is 64 KiB.
	Flat8192 struct{ V [8192]float64 }
)

// NestN is N levels of structs with 16 bytes each, in C's memory layout.
type (
	// Nest1 is the innermost struct.
	Nest1 struct {
		Value float64
		Level int32
	}
	// Nest2 has 2 levels.
	Nest2 struct {
		Inner Nest1
		Value float64
		Level int32
	}
	// Nest3 has 3 levels.
	Nest3 struct {
		Inner Nest2
		Value float64
		Level int32
	}
	// Nest4 has 4 levels.
	Nest4 struct {
		Inner Nest3
		Value float64
		Level int32
	}
	// Nest5 has 5 levels.
	Nest5 struct {
		Inner Nest4
		Value float64
		Level int32
	}
	// Nest6 has 6 levels.
	Nest6 struct {
		Inner Nest5
		Value float64
		Level int32
	}
	// Nest7 has 7 levels.
	Nest7 struct {
		Inner Nest6
		Value float64
		Level int32
	}
	// Nest8 has 8 levels.
	Nest8 struct {
		Inner Nest7
		Value float64
		Level int32
	}
	// Nest9 has 9 levels.
	Nest9 struct {
		Inner Nest8
		Value float64
		Level int32
	}
)

// DeepN is 18 numbers, 144 bytes, in N equal levels. DeepNInK is its level K; level 1 is the innermost. The
// memory layout is C's.
type (
	// Deep1 has 1 level.
	Deep1 struct {
		V0, V1, V2, V3, V4, V5, V6, V7, V8, V9, V10, V11, V12, V13, V14, V15, V16, V17 float64
	}
	// Deep2In1 is level 1 of Deep2.
	Deep2In1 struct {
		V0, V1, V2, V3, V4, V5, V6, V7, V8 float64
	}
	// Deep2 has 2 levels.
	Deep2 struct {
		Inner                              Deep2In1
		V0, V1, V2, V3, V4, V5, V6, V7, V8 float64
	}
	// Deep3In1 is level 1 of Deep3.
	Deep3In1 struct {
		V0, V1, V2, V3, V4, V5 float64
	}
	// Deep3In2 is level 2 of Deep3.
	Deep3In2 struct {
		Inner                  Deep3In1
		V0, V1, V2, V3, V4, V5 float64
	}
	// Deep3 has 3 levels.
	Deep3 struct {
		Inner                  Deep3In2
		V0, V1, V2, V3, V4, V5 float64
	}
	// Deep6In1 is level 1 of Deep6.
	Deep6In1 struct {
		V0, V1, V2 float64
	}
	// Deep6In2 is level 2 of Deep6.
	Deep6In2 struct {
		Inner      Deep6In1
		V0, V1, V2 float64
	}
	// Deep6In3 is level 3 of Deep6.
	Deep6In3 struct {
		Inner      Deep6In2
		V0, V1, V2 float64
	}
	// Deep6In4 is level 4 of Deep6.
	Deep6In4 struct {
		Inner      Deep6In3
		V0, V1, V2 float64
	}
	// Deep6In5 is level 5 of Deep6.
	Deep6In5 struct {
		Inner      Deep6In4
		V0, V1, V2 float64
	}
	// Deep6 has 6 levels.
	Deep6 struct {
		Inner      Deep6In5
		V0, V1, V2 float64
	}
	// Deep9In1 is level 1 of Deep9.
	Deep9In1 struct {
		V0, V1 float64
	}
	// Deep9In2 is level 2 of Deep9.
	Deep9In2 struct {
		Inner  Deep9In1
		V0, V1 float64
	}
	// Deep9In3 is level 3 of Deep9.
	Deep9In3 struct {
		Inner  Deep9In2
		V0, V1 float64
	}
	// Deep9In4 is level 4 of Deep9.
	Deep9In4 struct {
		Inner  Deep9In3
		V0, V1 float64
	}
	// Deep9In5 is level 5 of Deep9.
	Deep9In5 struct {
		Inner  Deep9In4
		V0, V1 float64
	}
	// Deep9In6 is level 6 of Deep9.
	Deep9In6 struct {
		Inner  Deep9In5
		V0, V1 float64
	}
	// Deep9In7 is level 7 of Deep9.
	Deep9In7 struct {
		Inner  Deep9In6
		V0, V1 float64
	}
	// Deep9In8 is level 8 of Deep9.
	Deep9In8 struct {
		Inner  Deep9In7
		V0, V1 float64
	}
	// Deep9 has 9 levels.
	Deep9 struct {
		Inner  Deep9In8
		V0, V1 float64
	}
)

// FieldsN has N members. Their types repeat: int32, float64, float32, int64. The memory layout is C's.
type (
	// Fields1 has a single member.
	Fields1 struct{ A0 int32 }
	// Fields4 has 4 members.
	Fields4 struct {
		A0 int32
		B0 float64
		C0 float32
		D0 int64
	}
	// Fields16 has 16 members.
	Fields16 struct {
		A0 int32
		B0 float64
		C0 float32
		D0 int64
		A1 int32
		B1 float64
		C1 float32
		D1 int64
		A2 int32
		B2 float64
		C2 float32
		D2 int64
		A3 int32
		B3 float64
		C3 float32
		D3 int64
	}
	// Fields64 has 64 members.
	Fields64 struct {
		A0  int32
		B0  float64
		C0  float32
		D0  int64
		A1  int32
		B1  float64
		C1  float32
		D1  int64
		A2  int32
		B2  float64
		C2  float32
		D2  int64
		A3  int32
		B3  float64
		C3  float32
		D3  int64
		A4  int32
		B4  float64
		C4  float32
		D4  int64
		A5  int32
		B5  float64
		C5  float32
		D5  int64
		A6  int32
		B6  float64
		C6  float32
		D6  int64
		A7  int32
		B7  float64
		C7  float32
		D7  int64
		A8  int32
		B8  float64
		C8  float32
		D8  int64
		A9  int32
		B9  float64
		C9  float32
		D9  int64
		A10 int32
		B10 float64
		C10 float32
		D10 int64
		A11 int32
		B11 float64
		C11 float32
		D11 int64
		A12 int32
		B12 float64
		C12 float32
		D12 int64
		A13 int32
		B13 float64
		C13 float32
		D13 int64
		A14 int32
		B14 float64
		C14 float32
		D14 int64
		A15 int32
		B15 float64
		C15 float32
		D15 int64
	}
)
