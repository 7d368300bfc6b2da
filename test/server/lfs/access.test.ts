import { testAccess } from '../../access/matrix.js'
import { access } from './lfs.access.js'

testAccess([access])
