import { batches } from '../../src/lib/batches.js'
import t from '../helpers/tap.js'

t.same(batches([1, 2, 3, 4, 5], 2), [[1, 2], [3, 4], [5]])
t.same(batches([1, 2], 2), [[1, 2]])
t.same(batches([], 2), [])
