import { testAccess } from '../../../access/matrix.js'
import { access as hooks } from './hooks.access.js'

testAccess([hooks])
