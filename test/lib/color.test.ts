import t from 'tap'
import { isHexColor } from '../../src/lib/color.js'

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
