import { testAccess } from '../../../access/matrix.js'
import { access } from './groups.access.js'

testAccess([access])
