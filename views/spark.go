package views

import (
	"fmt"
	"slices"
	"strings"
)

const sparkHeight = 16

// sparkPath draws a bar per second, one unit wide.
func sparkPath(counts []int) string {
	top := 1
	if len(counts) > 0 {
		top = max(slices.Max(counts), 1)
	}
	var b strings.Builder
	for i, n := range counts {
		if n > 0 {
			h := max(float64(n)/float64(top)*sparkHeight, 1)
			fmt.Fprintf(&b, "M%d %dv-%.3gh.8v%.3gz", i, sparkHeight, h, h)
		}
	}
	return b.String()
}

// sparkText says the same in words.
func sparkText(s Station) string {
	total, top := 0, 0
	for _, n := range s.Spark {
		total += n
		top = max(top, n)
	}
	return fmt.Sprintf("%s in the last 60 seconds: %d, at most %d in one second", s.Name, total, top)
}
