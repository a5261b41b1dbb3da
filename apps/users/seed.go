package users

import "time"

// Seeded returns the user FirstID+k of a store with more than k users. It depends only on k. No e-mail occurs
// twice.
func Seeded(k int) User {
	id := FirstID + int64(k)
	created := time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(k) * time.Second)
	return User{ID: id, Name: seededName(uint64(k)), Email: seededEmail(id), CreatedAt: created, UpdatedAt: created}
}

func seededEmail(id int64) string {
	const digits = 9
	b := []byte("u000000000@example.com")
	for i := digits; i > 0; i-- {
		b[i] = byte('0' + id%10)
		id /= 10
	}
	return string(b)
}

// seededName depends only on k. Bits 0 to 3 select the first name, 4 to 7 the last name, and higher ones the
// initial.
func seededName(k uint64) string {
	first := [...]string{"Ada", "Benedikt", "Chidi", "Dunja", "Emre", "Fiadh", "Gwendolyn", "Hiro", "Ines", "Jonathan", "Kwame", "Lene", "Maximilian", "Nora", "Odalys", "Priya"}
	last := [...]string{"Abara", "Bergmann", "Castellanos", "Duarte", "Eriksson", "Fitzgerald", "Grabowski", "Hashimoto", "Ivanova", "Jansen", "Kowalczyk", "Lund", "Montgomery", "Nakamura-Olsen", "Okonkwo", "Papadopoulos"}
	r := scramble(k)
	name := first[r%16]
	if r>>8&1 == 1 { // every second user has an initial
		name += string([]byte{' ', byte('A' + r>>16%26), '.'})
	}
	return name + " " + last[r>>4%16]
}

// scramble is the finalizer of SplitMix64. Source: Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", OOPSLA 2014.
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
