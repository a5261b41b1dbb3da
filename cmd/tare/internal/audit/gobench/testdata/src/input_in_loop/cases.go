package input_in_loop

import "encoding/json"

type Doc struct{ Items []int }

func ParseDoc(data []byte) (Doc, error) {
	var d Doc
	err := json.Unmarshal(data, &d)
	return d, err
}

func AppendDoc(dst []byte, d *Doc) []byte {
	for _, n := range d.Items {
		dst = append(dst, byte(n))
	}
	return dst
}

func SortDoc(d *Doc) { d.Items[0], d.Items[1] = d.Items[1], d.Items[0] }
