import t from 'tap'
import { batches } from '../../src/lib/batches.js'

t.same(batches([1, 2, 3, 4, 5], 2), [[1, 2], [3, 4], [5]])
t.same(batches([1, 2], 2), [[1, 2]])
t.same(batches([], 2), [])
