import { loadConfig } from '../../../src/config.js'
import {
  baseCacheSize,
  blockCacheSize,
  limitObjectCaches,
  objectCacheSize
} from '../../../src/git/objects/cache-sizes.js'
import t from '../../helpers/tap.js'

t.test('the caches depend on the memory of the machine, unless the size is configured', async t => {
  const [mebibyte, gibibyte] = [2 ** 20, 2 ** 30]
  t.teardown(() => {
    loadConfig({})
    limitObjectCaches(Number.POSITIVE_INFINITY)
  })
  t.equal(objectCacheSize(gibibyte), 64 * mebibyte)
  t.equal(objectCacheSize(8 * gibibyte), 128 * mebibyte)
  t.equal(objectCacheSize(64 * gibibyte), 256 * mebibyte)
  loadConfig({ git: { object_cache: 32 * mebibyte } })
  t.same([objectCacheSize(), blockCacheSize(), baseCacheSize()], [32 * mebibyte, 16 * mebibyte, 8 * mebibyte])
  limitObjectCaches(8 * mebibyte)
  t.same([objectCacheSize(), blockCacheSize(), baseCacheSize()], [8 * mebibyte, 4 * mebibyte, 2 * mebibyte])
})
