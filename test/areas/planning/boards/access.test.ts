import { testAccess } from '../../../access/matrix.js'
import { access } from './boards.access.js'

testAccess([access])
