import { isHexColor } from '../../src/lib/color.js'
import t from '../helpers/tap.js'

t.test('recognises colours', async t => {
  for (const color of ['#fff', '#FFF', '#01aBcD']) t.ok(isHexColor(color), color)
  for (const color of [
    '',
    'fff',
    '#ff',
    '#ffff',
    '#fffff',
    '#fffffff',
    '#ggg',
    ' #fff',
    '#fff\n',
    '#fff;top:0',
    'red'
  ]) {
    t.notOk(isHexColor(color), JSON.stringify(color))
  }
})
