package main

import "github.com/tarebench/tare/contender/codec"

func main() {
	codec.Main(codec.Impl{Marshal: nonsense})
}
