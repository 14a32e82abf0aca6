package replay

import (
	"maps"
	"slices"

	"github.com/edsight/edsight/core/registry"
)

// MeaninglessText says of a variable of istiod's environment that it is Meaningless.
const MeaninglessText = "it is passed over, since it changes no endpoints here, or is misspelt"

// Meaningless names the variables of istiod's environment that have no meaning here:
// most of istiod's are not about endpoints.
func Meaningless(env map[string]string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(env)), func(name string) bool {
		// One that has a meaning is refused if it is neither true nor false.
		_, err := registry.ParseFeatures(map[string]string{name: "neither"})
		return err != nil
	})
}
